import { Text } from "@mantine/core";
import type { NamedRecording } from "../../api/retention.ts";
import { dayAndTime } from "../../common/time.ts";
import classes from "./retention.module.css";
import { counted } from "./words.ts";

/**
 * What is about to go, by name. Also of recordings that the admin can't open: who decides about deleting has to know
 * what it is about.
 */
export function NamedList(props: {
  label: string;
  recordings: readonly NamedRecording[];
  /** How many there are, of which these are the first. */
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard. */}
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
            and {counted(more, "more", "more")}
          </Text>
        ) : null}
      </section>
    </div>
  );
}

/** Why titles stand there that the admin may not be able to open. */
export function WhyNamed() {
  return (
    <Text size="xs" c="dimmed">
      Recordings that you can't open are named as well: admins decide about deleting, so they are told what
      goes. What is in them is not shown.
    </Text>
  );
}
