import { hash01 } from "../content/timeline.ts";
import type { DemoMeeting, DemoSlide } from "../content/types.ts";
import { drawableText, fitText, text, textWidth } from "./font.ts";
import { type Box, drawSlide } from "./slides.ts";

/** Size of the video in pixels. */
export const frame = { width: 640, height: 360 } as const;

/** The highest loudness level; 0 is silent. */
export const maxLevel = 4;

/** A layout of the video: title, grid or slide. */
export interface Scene {
  /** Each participant's tile, by key. Coordinates are even, so that tiles can be copied between 4:2:0 pictures. */
  readonly tiles: ReadonlyMap<string, Box>;
  /** The SVG with every tile at a loudness level, 0 to `maxLevel`. */
  draw(level: number): string;
}

interface Participant {
  readonly key: string;
  readonly name: string;
}

const gap = 8;
const stage = { x: 12, y: 36, width: 616, height: 312 } as const;
/** Name shown for anonymous speakers. */
export const guestName = "Guest";

/** The participants, and a guest for each anonymous speaker. */
export function visibleParticipants({
  participants,
  segments,
}: Pick<DemoMeeting, "participants" | "segments">): Participant[] {
  const keys = new Set(participants.map(({ key }) => key));
  const guests = new Set(segments.map(({ key }) => key).filter((key) => !keys.has(key)));
  const known = participants.map(({ key, name }) => ({ key, name: drawableText(name) }));
  return [...known, ...[...guests].map((key) => ({ key, name: guestName }))];
}

/** The opening scene with the meeting's title. */
export function titleScene(title: string, subtitle: string): Scene {
  const lines = wrapText(title, 24, 520);
  const top = 176 - lines.length * 19;
  const svg = picture(
    [
      `<circle cx="560" cy="40" r="190" fill="#1d6f7c" opacity="0.32"/>`,
      `<circle cx="610" cy="330" r="130" fill="#e2703a" opacity="0.2"/>`,
      `<rect x="56" y="${top - 48}" width="40" height="5" rx="2.5" fill="#e2703a"/>`,
      ...lines.map((line, i) =>
        text(line, { x: 56, y: top + i * 38, size: 24, colour: "#f4f7fb", weight: 0.15 }),
      ),
      text(subtitle, { x: 56, y: top + lines.length * 38 + 4, size: 11, colour: "#9fb2c8" }),
    ].join(""),
  );
  return { tiles: new Map(), draw: () => svg };
}

/** All participants in a grid. */
export function gridScene(title: string, participants: readonly Participant[]): Scene {
  const columns =
    participants.length <= 1 ? 1 : participants.length <= 4 ? 2 : participants.length <= 9 ? 3 : 4;
  const rows = Math.ceil(participants.length / columns);
  const width = even((stage.width - gap * (columns - 1)) / columns);
  const height = even((stage.height - gap * (rows - 1)) / rows);
  const tiles = new Map<string, Box>();
  for (const [i, { key }] of participants.entries()) {
    const row = Math.floor(i / columns);
    const inRow = Math.min(columns, participants.length - row * columns);
    const left = stage.x + (stage.width - inRow * width - (inRow - 1) * gap) / 2;
    tiles.set(key, {
      x: even(left + (i % columns) * (width + gap)),
      y: even(stage.y + row * (height + gap)),
      width,
      height,
    });
  }
  return scene(title, participants, tiles, "");
}

/** A shared screen with some participants beside it. */
export function slideScene(title: string, participants: readonly Participant[], slide: DemoSlide): Scene {
  const aside = 132;
  const card = { x: stage.x, y: stage.y, width: stage.width - aside - gap, height: stage.height };
  const height = even(Math.min(100, (stage.height - gap * (participants.length - 1)) / participants.length));
  const top = stage.y + (stage.height - height * participants.length - gap * (participants.length - 1)) / 2;
  const tiles = new Map(
    participants.map(({ key }, i) => [
      key,
      { x: even(card.x + card.width + gap), y: even(top + i * (height + gap)), width: aside, height },
    ]),
  );
  const name = participants.find(({ key }) => key === slide.by)?.name ?? guestName;
  return scene(`${title} – ${name} is presenting`, participants, tiles, drawSlide(slide, card));
}

function scene(
  title: string,
  participants: readonly Participant[],
  tiles: Scene["tiles"],
  extra: string,
): Scene {
  const head =
    text(fitText(title, 8.5, 500), { x: 14, y: 23, size: 8.5, colour: "#b9c6d6" }) +
    `<circle cx="590" cy="19" r="4" fill="#ef5350"/>` +
    text("REC", { x: 600, y: 22.5, size: 7.5, colour: "#b9c6d6", weight: 0.16 });
  return {
    tiles,
    draw: (level) =>
      picture(
        head +
          extra +
          participants
            .map((person) => {
              const box = tiles.get(person.key);
              return box === undefined ? "" : drawTile(person, box, level);
            })
            .join(""),
      ),
  };
}

/** A participant's tile: initials, name and loudness. */
function drawTile({ key, name }: Participant, { x, y, width, height }: Box, level: number): string {
  const hue = hueOf(key, name);
  const isSpeaking = level > 0;
  const isSmall = height < 90;
  const label = isSmall ? 7 : 8.5;
  const radius = Math.min(height * (isSmall ? 0.3 : 0.27), width * 0.2, 46);
  const cx = x + width / 2;
  const cy = y + height / 2 - (isSmall ? label * 0.7 : 4);
  const parts = [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="10" fill="hsl(${hue},26%,${isSpeaking ? 25 : 19}%)"/>`,
  ];
  if (isSpeaking) {
    const reach = radius * (1.08 + level * 0.09);
    parts.push(
      `<circle cx="${cx}" cy="${cy}" r="${Math.min(reach + 4, height / 2 - 3)}" fill="hsl(${hue},60%,62%)" opacity="0.16"/>`,
      `<circle cx="${cx}" cy="${cy}" r="${Math.min(reach, height / 2 - 5)}" fill="hsl(${hue},60%,62%)" opacity="0.24"/>`,
      `<rect x="${x + 1.5}" y="${y + 1.5}" width="${width - 3}" height="${height - 3}" rx="9" fill="none" stroke="#6ee7b7" stroke-width="3"/>`,
    );
  }
  parts.push(
    `<circle cx="${cx}" cy="${cy}" r="${radius}" fill="hsl(${hue},52%,${isSpeaking ? 50 : 43}%)"/>`,
    text(initialsOf(name), {
      x: cx,
      y: cy + radius * 0.31,
      size: radius * 0.62,
      colour: "#fff",
      weight: 0.15,
      anchor: "middle",
    }),
  );
  // Narrow tiles have room for the first name only.
  const shown = fitText(width < 140 ? (name.split(" ")[0] ?? name) : name, label, width - 46);
  const chip = textWidth(shown, label) + 32;
  parts.push(
    `<rect x="${x + 6}" y="${y + height - label - 15}" width="${chip}" height="${label + 9}" rx="6" fill="#0a0f18" opacity="0.62"/>`,
    text(shown, { x: x + 26, y: y + height - 11, size: label, colour: "#fff", weight: 0.14 }),
    meter(x + 12, y + height - 11 - label / 2, level),
  );
  return parts.join("");
}

/** Loudness meter of three small bars; dots when silent. */
function meter(x: number, y: number, level: number): string {
  return [0.6, 1, 0.7]
    .map((share, i) => {
      const tall = level === 0 ? 2 : 2 + (share * 9 * level) / maxLevel;
      const colour = level === 0 ? "#8fa0b5" : "#6ee7b7";
      return `<rect x="${x + i * 3.4}" y="${y - tall / 2}" width="2" height="${tall}" rx="1" fill="${colour}"/>`;
    })
    .join("");
}

function picture(inside: string): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${frame.width}" height="${frame.height}">` +
    `<defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="#0d131d"/>` +
    `<stop offset="1" stop-color="#17212f"/></linearGradient></defs>` +
    `<rect width="100%" height="100%" fill="url(#g)"/>${inside}</svg>`
  );
}

/** Distinguishable hues, none of them the green that marks the speaker. */
const hues = [205, 262, 328, 14, 38, 172, 190, 288, 350, 48, 226, 310] as const;

/** A name has the same hue in every video. */
function hueOf(key: string, name: string): number {
  if (name === guestName) return 215;
  return hues[Math.floor(hash01(`${key}/${name}`) * (hues.length - 0.001))] ?? 205;
}

/** Initials of the first and last name, as in the web app. */
function initialsOf(name: string): string {
  const words = name.split(/\s+/u);
  const last = words.length > 1 ? (words.at(-1)?.at(0) ?? "") : "";
  return `${words[0]?.at(0) ?? ""}${last}`.toUpperCase();
}

/** Breaks a long title into lines. */
function wrapText(line: string, size: number, room: number): string[] {
  const lines: string[] = [];
  for (const word of line.split(" ")) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && textWidth(longer, size) <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function even(value: number): number {
  return Math.floor(value / 2) * 2;
}
