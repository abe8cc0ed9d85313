import { IconChevronLeft } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";

/** Leads from one thing to the list it is in; stands above the title. */
export function BackLink({ to, children }: { to: string; children: string }) {
  return (
    <Link to={to} className="back">
      <IconChevronLeft size={16} aria-hidden />
      {children}
    </Link>
  );
}
