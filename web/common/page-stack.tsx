import { Stack } from "@mantine/core";
import type { ReactNode } from "react";

/** The vertical layout of a page, with the common page width. */
export function PageStack({ gap = "md", children }: { gap?: "md" | "lg"; children: ReactNode }) {
  return (
    <Stack gap={gap} className="page">
      {children}
    </Stack>
  );
}
