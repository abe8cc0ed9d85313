import { plural } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Group, Text } from "@mantine/core";
import { randomId } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { bytes } from "../common/format/bytes.ts";

/** Asks whether to upload files that another app has shared, or a website that looks like one. @returns false: discard them. */
export function askToUpload(files: readonly File[]): Promise<boolean> {
  const id = randomId();
  return new Promise((resolve) => {
    const decide = (willUpload: boolean) => {
      notifications.hide(id);
      resolve(willUpload);
    };
    notifications.show({
      id,
      title: plural(files.length, {
        one: "# file shared with Parley",
        other: "# files shared with Parley",
      }),
      message: (
        <>
          <Text size="sm">
            <Trans>Another app or a website sent them. Upload them only if you shared them.</Trans>
          </Text>
          {files.map(({ name, size }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and the list never changes.
            <Text key={index} size="sm" style={{ overflowWrap: "anywhere" }}>
              {name} ({bytes(size)})
            </Text>
          ))}
          <Group gap="xs" mt="xs">
            <Button size="xs" onClick={() => decide(true)}>
              <Trans context="verb">Upload</Trans>
            </Button>
            <Button size="xs" variant="default" onClick={() => decide(false)}>
              <Trans>Discard</Trans>
            </Button>
          </Group>
        </>
      ),
      autoClose: false,
      withCloseButton: false,
    });
  });
}
