import { IconChevronLeft } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";

/** A link to the parent list, above a page's title. */
export function BackLink({ to, children }: { to: string; children: string }) {
  return (
    <Link to={to} className="back">
      <IconChevronLeft size={16} aria-hidden />
      {children}
    </Link>
  );
}
