import { createTheme } from "@mantine/core";

/** How everything looks: one accent, quiet surfaces, room to read. */
export const theme = createTheme({
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
    Notification: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    Modal: {
      defaultProps: {
        closeButtonProps: { "aria-label": "Close" },
        // A dialog's head is no banner of the page.
        attributes: { header: { role: "presentation" } },
      },
    },
  },
});
