import { Stack } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./page.module.css";

/** The parts of a page, one below the other, as wide as those of every other page. */
export function PageStack({ gap = "md", children }: { gap?: "md" | "lg"; children: ReactNode }) {
  return (
    <Stack gap={gap} className={classes.page ?? ""}>
      {children}
    </Stack>
  );
}
