import { Plural, Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { NamedRecording } from "../../api/settings/retention.ts";
import { dayAndTime } from "../../common/format/time.ts";
import classes from "./data-governance.module.css";

/**
 * Recordings to be deleted, by title. It includes recordings the admin can't open, because admins must know what they delete.
 */
export function NamedList(props: {
  label: string;
  recordings: readonly NamedRecording[];
  /** The total count, of which these are the first. */
  total: number;
}) {
  const { label, recordings, total } = props;
  if (recordings.length === 0) return null;
  const more = total - recordings.length;
  return (
    <div>
      <Text size="sm" c="dimmed" mb={4}>
        {label}
      </Text>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <section className={classes.named} aria-label={label} tabIndex={0}>
        <ul>
          {recordings.map(({ id, title, start_datetime }) => (
            <li key={id}>
              <span dir="auto">{title}</span>
              <time dateTime={start_datetime}>{dayAndTime(start_datetime)}</time>
            </li>
          ))}
        </ul>
        {more > 0 ? (
          <Text size="sm" c="dimmed" px="sm" pb={8}>
            <Plural value={more} one="and # more" other="and # more" />
          </Text>
        ) : null}
      </section>
    </div>
  );
}

/** Explains why the list includes titles the admin can't open. */
export function WhyNamed() {
  return (
    <Text size="xs" c="dimmed">
      <Trans>
        Includes recordings you can't open: admins see the titles of what will be deleted, but not the
        content.
      </Trans>
    </Text>
  );
}
