import type { DemoChart, DemoSlide } from "../content/types.ts";
import { fitText, text, textWidth } from "./font.ts";

/** A rectangle of the picture in pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const ink = "#16202e";
const grey = "#66758a";
const pale = "#e3e9f0";
const teal = "#1c7c8c";
const warm = "#e2703a";

/** A slide as SVG within its box: a heading and a chart. */
export function drawSlide({ title, chart }: DemoSlide, { x, y, width, height }: Box): string {
  const inner = { x: x + 26, y: y + 66, width: width - 52, height: height - 66 - 24 };
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="#fbfcfe"/>`,
    `<rect x="${x + 26}" y="${y + 20}" width="30" height="4" rx="2" fill="${warm}"/>`,
    text(fitText(title, 13, width - 52), { x: x + 26, y: y + 46, size: 13, colour: ink, weight: 0.17 }),
    drawChart(chart, inner),
  ].join("");
}

function drawChart(chart: DemoChart, box: Box): string {
  if (chart.kind === "bars") return drawBars(chart, box);
  if (chart.kind === "line") return drawLine(chart, box);
  return drawList(chart, box);
}

function drawBars({ bars, unit }: DemoChart & { kind: "bars" }, { x, y, width, height }: Box): string {
  const max = Math.max(...bars.map(({ value }) => value), 1);
  const room = width / bars.length;
  const breadth = Math.min(56, room * 0.56);
  const floor = y + height - 22;
  const parts = [`<rect x="${x}" y="${floor}" width="${width}" height="1.5" fill="${pale}"/>`];
  for (const [i, { label, value, highlighted }] of bars.entries()) {
    const middle = x + room * (i + 0.5);
    const tall = Math.max(3, ((height - 46) * value) / max);
    const colour = highlighted ? warm : teal;
    parts.push(
      `<rect x="${middle - breadth / 2}" y="${floor - tall}" width="${breadth}" height="${tall}" rx="3" fill="${colour}"/>`,
      text(`${value}${unit}`, {
        x: middle,
        y: floor - tall - 7,
        size: 9,
        colour: ink,
        weight: 0.17,
        anchor: "middle",
      }),
      text(fitText(label, 7.5, room - 6), {
        x: middle,
        y: floor + 16,
        size: 7.5,
        colour: grey,
        anchor: "middle",
      }),
    );
  }
  return parts.join("");
}

function drawLine(
  { labels, values, unit, max, mark }: DemoChart & { kind: "line" },
  { x, y, width, height }: Box,
): string {
  const left = x + 34;
  const across = width - 40;
  const floor = y + height - 22;
  const tall = height - 34;
  const xOf = (i: number): number => left + (across * i) / (values.length - 1);
  const yOf = (value: number): number => floor - (tall * value) / max;
  const parts: string[] = [];
  for (const share of [0, 0.5, 1]) {
    const at = yOf(max * share);
    parts.push(
      `<rect x="${left}" y="${at}" width="${across}" height="1.2" fill="${pale}"/>`,
      text(`${Math.round(max * share * 10) / 10}${unit}`, {
        x: left - 7,
        y: at + 3,
        size: 7,
        colour: grey,
        anchor: "end",
      }),
    );
  }
  for (const [i, label] of labels.entries())
    parts.push(
      text(label, {
        x: left + (across * i) / Math.max(1, labels.length - 1),
        y: floor + 16,
        size: 7.5,
        colour: grey,
        anchor: i === 0 ? "start" : i === labels.length - 1 ? "end" : "middle",
      }),
    );
  const line = values.map((value, i) => `${i === 0 ? "M" : "L"}${xOf(i)} ${yOf(value)}`).join("");
  parts.push(
    `<path d="${line}L${xOf(values.length - 1)} ${floor}L${left} ${floor}Z" fill="${teal}" opacity="0.13"/>`,
    `<path d="${line}" fill="none" stroke="${teal}" stroke-width="3" stroke-linejoin="round" stroke-linecap="round"/>`,
  );
  if (mark !== undefined) {
    const [mx, my] = [xOf(mark.at), yOf(values[mark.at] ?? 0)];
    const isLeft = mx > x + width / 2;
    const length = textWidth(mark.text, 8) + 14;
    const from = isLeft ? mx - 12 - length : mx + 12;
    parts.push(
      `<circle cx="${mx}" cy="${my}" r="6" fill="${warm}" stroke="#fff" stroke-width="2"/>`,
      `<rect x="${from}" y="${my - 10}" width="${length}" height="20" rx="5" fill="${warm}"/>`,
      text(mark.text, { x: from + 7, y: my + 4, size: 8, colour: "#fff", weight: 0.16 }),
    );
  }
  return parts.join("");
}

function drawList({ items }: DemoChart & { kind: "list" }, { x, y, width, height }: Box): string {
  const step = Math.min(34, height / items.length);
  return items
    .map((item, i) => {
      const at = y + step * (i + 0.5);
      const box = item.isDone
        ? `<rect x="${x}" y="${at - 8}" width="16" height="16" rx="4" fill="${teal}"/>` +
          `<path d="M${x + 4} ${at}l3 3.4l5.4 -6.4" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/>`
        : `<rect x="${x + 1}" y="${at - 7}" width="14" height="14" rx="4" fill="none" stroke="#b6c2d0" stroke-width="2"/>`;
      return (
        box +
        text(fitText(item.text, 10, width - 28), {
          x: x + 28,
          y: at + 5,
          size: 10,
          colour: item.isDone ? grey : ink,
        })
      );
    })
    .join("");
}
