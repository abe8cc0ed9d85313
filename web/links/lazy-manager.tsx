import { Skeleton } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { Linked } from "./linked.ts";

const LinkManager = lazy(async () => ({ default: (await import("./link-manager.tsx")).LinkManager }));

/** The links of something, loaded when somebody looks at them: the picker of dates is heavy. */
export function Links(linked: Linked) {
  return (
    <Suspense fallback={<Skeleton height={96} radius="md" />}>
      <LinkManager {...linked} />
    </Suspense>
  );
}
