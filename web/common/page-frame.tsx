import { Stack } from "@mantine/core";
import { IconChevronLeft } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** The vertical layout of a page, with the common page width. */
export function PageStack({ gap = "md", children }: { gap?: "md" | "lg"; children: ReactNode }) {
  return (
    <Stack gap={gap} className="page">
      {children}
    </Stack>
  );
}

/** A link to the parent list, above a page's title. */
export function BackLink({ to, children }: { to: string; children: string }) {
  return (
    <Link to={to} className="back">
      <IconChevronLeft size={16} aria-hidden className="mirrored" />
      {children}
    </Link>
  );
}
