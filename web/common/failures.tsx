import { Plural } from "@lingui/react/macro";
import { List } from "@mantine/core";

/** A recording that couldn't be changed or exported. */
export interface Failure {
  readonly id: string;
  readonly title: string;
  readonly reason: string;
}

/** Recordings that are named; the rest is counted. */
const maxNamed = 5;

export function Failures({ failed }: { failed: readonly Failure[] }) {
  return (
    <List size="sm">
      {failed.slice(0, maxNamed).map(({ id, title, reason }) => (
        <List.Item key={id}>
          <span dir="auto">{title}</span>: {reason}
        </List.Item>
      ))}
      {failed.length > maxNamed ? (
        <List.Item>
          <Plural value={failed.length - maxNamed} one="# more" other="# more" />
        </List.Item>
      ) : null}
    </List>
  );
}
