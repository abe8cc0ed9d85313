import { useMantineTheme } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";

/** Whether the window is at least as wide as a breakpoint of the theme. */
export function useWider(breakpoint: "xs" | "sm" | "md"): boolean {
  const { breakpoints } = useMantineTheme();
  return useMediaQuery(`(min-width: ${breakpoints[breakpoint]})`, true, { getInitialValueInEffect: false });
}
