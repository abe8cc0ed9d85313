import { createTheme } from "@mantine/core";
import type { FocusEvent } from "react";

/** Has typing in the field of a list replace what is chosen, which would else be part of the search. */
function selectText({ currentTarget: field }: FocusEvent<HTMLInputElement>): void {
  if (field.readOnly) return;
  // A click places the cursor after it has moved the focus. Selecting takes the focus, which may have moved on.
  setTimeout(() => document.activeElement === field && field.select());
}

/** How everything looks: one accent, quiet surfaces, room to read. @param close the label of buttons that close. */
export const themeOf = (close: string) =>
  createTheme({
    primaryColor: "indigo",
    primaryShade: 7,
    autoContrast: true,
    defaultRadius: "md",
    cursorType: "pointer",
    focusRing: "auto",
    fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
    fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, monospace',
    headings: { fontWeight: "650" },
    respectReducedMotion: true,
    components: {
      Portal: { defaultProps: { target: "#layers" } },
      // The placeholder is not a menu item, and a menu may only contain items (WAI-ARIA).
      Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
      // Lists open on demand, not whenever the field gets focus, and are no part of the page before: time zones alone are 430.
      Select: {
        defaultProps: { openOnFocus: false, comboboxProps: { keepMounted: false }, onFocus: selectText },
      },
      MultiSelect: { defaultProps: { openOnFocus: false, comboboxProps: { keepMounted: false } } },
      Notification: {
        defaultProps: { closeButtonProps: { "aria-label": close } },
        // The library's own grey falls short of 4.5:1 (WCAG 2.2, 1.4.3).
        styles: { description: { color: "var(--mantine-color-dimmed)" } },
      },
      Modal: {
        defaultProps: {
          closeButtonProps: { "aria-label": close },
          // A dialog's header is not the page's banner landmark.
          attributes: { header: { role: "presentation" } },
          styles: { title: { fontWeight: 650, fontSize: "var(--mantine-font-size-lg)" } },
        },
      },
    },
  });
