import { Stack } from "@mantine/core";
import type { ReactNode } from "react";

/** The parts of a page, one below the other, as wide as those of every other page. */
export function PageStack({ gap = "md", children }: { gap?: "md" | "lg"; children: ReactNode }) {
  return (
    <Stack gap={gap} className="page">
      {children}
    </Stack>
  );
}
