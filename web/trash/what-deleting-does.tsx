import { Plural, Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";

/** Says what deleting ends at once, and for how long it can be undone. @param days undefined while they load. */
export function WhatDeletingDoes({ days }: { days: number | undefined }) {
  return (
    <Text size="sm" c="dimmed">
      {days === undefined ? (
        <Trans>Links stop working at once.</Trans>
      ) : days === 0 ? (
        <Trans>Links stop working at once. This can't be undone.</Trans>
      ) : (
        <Plural
          value={days}
          one="Links stop working at once. You can restore recordings from the trash for # day, with their links. After that they are deleted permanently."
          other="Links stop working at once. You can restore recordings from the trash for # days, with their links. After that they are deleted permanently."
        />
      )}
    </Text>
  );
}
