import { Text } from "@mantine/core";

/** What a public recording means. The settings of its link belong here. */
export function PublicLink() {
  return (
    <Text size="sm" c="dimmed">
      Anybody who gets hold of the link can watch, read and pass it on. Choose another state to end that at
      once.
    </Text>
  );
}
