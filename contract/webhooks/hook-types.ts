import { type Gate, isOpen, type VersionName } from "../versions.ts";

interface Definition {
  readonly gate: Gate;
  /** What a hook can include in its data (`hooks.ts`). */
  readonly include: "recording" | "highlight" | "upload" | null;
  /** The schema of its data (`hook-payloads.ts`), and how it is rendered. */
  readonly data: string;
  /** When it happens. */
  readonly summary: string;
}

/**
 * Every hook type. Requests, the reference, the clients, the payloads and the choice in the web app follow from this list.
 * Source: contract.md, "Events".
 */
export const hookTypes = {
  recording_added: {
    gate: "every_version",
    include: "recording",
    data: "recording",
    summary: "A recording was added.",
  },
  recording_updated: {
    gate: "every_version",
    include: "recording",
    data: "recording",
    summary: "A recording changed.",
  },
  recording_deleted: {
    gate: "every_version",
    include: null,
    data: "deleted",
    summary: "A recording was deleted.",
  },
  highlight_added: {
    gate: "every_version",
    include: "highlight",
    data: "highlight",
    summary: "A highlight was added.",
  },
  highlight_updated: {
    gate: "every_version",
    include: "highlight",
    data: "highlight",
    summary: "A highlight changed.",
  },
  highlight_deleted: {
    gate: "every_version",
    include: null,
    data: "deleted_highlight",
    summary: "A highlight was deleted.",
  },
  story_added: {
    gate: "every_version",
    include: null,
    data: "story",
    summary: "A story was added.",
  },
  story_updated: {
    gate: "every_version",
    include: null,
    data: "story",
    summary: "A story changed.",
  },
  story_deleted: {
    gate: "every_version",
    include: null,
    data: "deleted",
    summary: "A story was deleted.",
  },
  upload_added: {
    gate: "new_hooks",
    include: "upload",
    data: "upload",
    summary: "An upload was created.",
  },
  upload_updated: {
    gate: "new_hooks",
    include: "upload",
    data: "upload",
    summary: "An upload's status or attributes changed.",
  },
  upload_status: {
    gate: "upload_status_hook",
    include: null,
    data: "upload_status",
    summary: "An upload made progress, succeeded or failed.",
  },
  // Parley's own: contract.md does not show all types of 2026-10-01.
  transcription_updated: {
    gate: "new_hooks",
    include: null,
    data: "transcription",
    summary: "A transcription began a stage, made ten percent of progress, succeeded or failed.",
  },
  comment_added: {
    gate: "new_hooks",
    include: null,
    data: "comment",
    summary: "A user commented on a recording.",
  },
  comment_updated: {
    gate: "new_hooks",
    include: null,
    data: "comment",
    summary: "A comment was edited, resolved or opened again, or got or lost a reaction.",
  },
  comment_deleted: {
    gate: "new_hooks",
    include: null,
    data: "deleted_comment",
    summary: "A comment was deleted.",
  },
} as const satisfies Record<string, Definition>;

export type HookType = keyof typeof hookTypes;
export type HookDataName = (typeof hookTypes)[HookType]["data"];
export const hookTypeNames = Object.keys(hookTypes) as [HookType, ...HookType[]];

export function hookTypesIn(version: VersionName): HookType[] {
  return hookTypeNames.filter((name) => isOpen(hookTypes[name].gate, version));
}

/** Narrows a string to a hook type of any version. */
export function isHookType(name: string): name is HookType {
  return Object.hasOwn(hookTypes, name);
}
