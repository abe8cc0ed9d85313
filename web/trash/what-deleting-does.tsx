import { Text } from "@mantine/core";
import { counted } from "../common/format/count.ts";

/** Says what deleting ends at once, and for how long it can be undone. @param days undefined while they load. */
export function WhatDeletingDoes({ days }: { days: number | undefined }) {
  return (
    <Text size="sm" c="dimmed">
      Links stop working at once.{" "}
      {days === undefined
        ? null
        : days === 0
          ? "This can't be undone."
          : `You can restore recordings from the trash for ${counted(days, "day")}, with their links. After that they are deleted permanently.`}
    </Text>
  );
}
