import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Conditions, DestinationKind } from "../../api/settings/deliveries.ts";

/** How each kind is shown, and where its webhook URL comes from. */
export const kinds: Readonly<
  Record<
    DestinationKind,
    { readonly label: MessageDescriptor; readonly help: MessageDescriptor; readonly example: string }
  >
> = {
  slack: {
    label: msg`Slack`,
    help: msg`In Slack, open Apps → Incoming Webhooks, choose the channel and copy the webhook URL.`,
    example: "https://hooks.slack.com/services/…",
  },
  teams: {
    label: msg`Microsoft Teams`,
    help: msg`In the channel's menu, open Workflows → Post to a channel when a webhook request is received, and copy the URL.`,
    example: "https://….logic.azure.com/workflows/…",
  },
  mattermost: {
    label: msg`Mattermost`,
    help: msg`In Mattermost, open Integrations → Incoming Webhooks, choose the channel and copy the URL.`,
    example: "https://chat.example.com/hooks/…",
  },
  discord: {
    label: msg`Discord`,
    help: msg`In the channel's settings, open Integrations → Webhooks, create one and copy its URL.`,
    example: "https://discord.com/api/webhooks/…",
  },
  email: {
    label: msg`Email to participants`,
    help: msg`Goes to participants who are users of this workspace and can see the recording.`,
    example: "",
  },
  markdown: {
    label: msg`Markdown files`,
    help: msg`One file for each recording, ready for Obsidian. It follows changes and is removed with its recording.`,
    example: "",
  },
};

export function isChat(kind: DestinationKind): boolean {
  return kinds[kind].example !== "";
}

interface Names {
  readonly teams: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, string>;
}

/** The conditions that decide which recordings are sent, one text each. */
export function describeConditions(conditions: Conditions, { teams, types }: Names): string[] {
  const { team_id, meeting_type_id, tag, scope, title } = conditions;
  const team = team_id === undefined ? undefined : teams.get(team_id);
  const type = meeting_type_id === undefined ? undefined : types.get(meeting_type_id);
  const parts = [
    team_id === undefined
      ? null
      : team === undefined
        ? t`only recordings shared with a deleted team`
        : t`only recordings shared with ${team}`,
    meeting_type_id === undefined
      ? null
      : type === undefined
        ? t`only recordings of a deleted type`
        : t`only recordings of type ${type}`,
    tag === undefined ? null : t`only recordings tagged ${tag}`,
    scope === undefined
      ? null
      : scope === "external"
        ? t`only recordings with guests`
        : t`only internal recordings`,
    title === undefined ? null : t`only recordings with “${title}” in the title`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? [t`every recording`] : parts;
}
