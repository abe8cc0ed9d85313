import type { Point } from "../../../contract/recordings/points.ts";
import markdown from "../../common/format/markdown.module.css";
import { Inline } from "../../common/format/markdown.tsx";
import { MomentButton } from "./moment-button.tsx";

/** Points under their headings, each with a button that plays the words that prove it. */
export function Points({ points }: { points: readonly Point[] }) {
  return (
    <div className={markdown.markdown} dir="auto">
      {groupByHeading(points).map(({ heading, entries }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two groups may have one heading.
        <Group key={i} heading={heading} points={entries} />
      ))}
    </div>
  );
}

function Group({ heading, points }: { heading: string | null; points: readonly Point[] }) {
  return (
    <>
      {heading === null ? null : <h3>{heading}</h3>}
      <ul>
        {points.map((point, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same text may occur twice.
          <li key={i}>
            <Inline text={point.text} /> <Moment point={point} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** The moment of the words that prove an entry. */
export function Moment({ point }: { point: Point | undefined }) {
  return point === undefined ? null : <MomentButton ms={point.start} quote={point.quote} />;
}

function groupByHeading(points: readonly Point[]) {
  const groups: { readonly heading: string | null; readonly entries: Point[] }[] = [];
  for (const point of points) {
    const last = groups.at(-1);
    if (last !== undefined && last.heading === point.heading) last.entries.push(point);
    else groups.push({ heading: point.heading, entries: [point] });
  }
  return groups;
}
