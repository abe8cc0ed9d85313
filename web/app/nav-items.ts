import { msg } from "@lingui/core/macro";
import {
  IconChecklist,
  IconHighlight,
  IconSettings,
  IconStack2,
  IconTrash,
  IconUpload,
  IconVideo,
} from "@tabler/icons-react";

/** The pages of the main navigation. */
export const navItems = [
  { to: "/", label: msg`Library`, icon: IconVideo },
  { to: "/highlights", label: msg`Highlights`, icon: IconHighlight },
  { to: "/action-items", label: msg`Action items`, icon: IconChecklist },
  { to: "/stories", label: msg`Stories`, icon: IconStack2 },
  { to: "/uploads", label: msg`Uploads`, icon: IconUpload },
  { to: "/trash", label: msg`Trash`, icon: IconTrash },
  { to: "/settings", label: msg`Settings`, icon: IconSettings },
] as const;

/** Whether a page of the navigation is the current one. @param path the URL's. */
export function isActive(to: string, path: string): boolean {
  return to === "/" ? path === "/" || path.startsWith("/recordings/") : path.startsWith(to);
}
