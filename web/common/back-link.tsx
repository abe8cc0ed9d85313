import { Anchor } from "@mantine/core";
import { IconChevronLeft } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import classes from "./page.module.css";

/** Leads from one thing to the list it is in; stands above the title. */
export function BackLink({ to, children }: { to: string; children: string }) {
  return (
    <Anchor component={Link} to={to} size="sm" c="dimmed" className={classes.back ?? ""}>
      <IconChevronLeft size={16} aria-hidden />
      {children}
    </Anchor>
  );
}
