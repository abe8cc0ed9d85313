import { t } from "@lingui/core/macro";
import type { Conditions, DestinationKind } from "../../api/settings/deliveries.ts";

/** How each kind is shown, and where its webhook URL comes from. */
export const kinds: Readonly<
  Record<DestinationKind, { readonly label: string; readonly help: string; readonly example: string }>
> = {
  slack: {
    label: "Slack",
    help: "In Slack, open Apps → Incoming Webhooks, choose the channel and copy the webhook URL.",
    example: "https://hooks.slack.com/services/…",
  },
  teams: {
    label: "Microsoft Teams",
    help: "In the channel's menu, open Workflows → Post to a channel when a webhook request is received, and copy the URL.",
    example: "https://….logic.azure.com/workflows/…",
  },
  mattermost: {
    label: "Mattermost",
    help: "In Mattermost, open Integrations → Incoming Webhooks, choose the channel and copy the URL.",
    example: "https://chat.example.com/hooks/…",
  },
  discord: {
    label: "Discord",
    help: "In the channel's settings, open Integrations → Webhooks, create one and copy its URL.",
    example: "https://discord.com/api/webhooks/…",
  },
  email: {
    label: "Email to participants",
    help: "Goes to participants who are users of this workspace and can see the recording.",
    example: "",
  },
  markdown: {
    label: "Markdown files",
    help: "One file for each recording, ready for Obsidian. It follows changes and is removed with its recording.",
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

/** The conditions in words; empty: every recording. */
export function describeConditions(conditions: Conditions, { teams, types }: Names): string {
  const { team_id, meeting_type_id, tag, scope, title } = conditions;
  const parts = [
    team_id === undefined ? null : `shared with ${teams.get(team_id) ?? t`a deleted team`}`,
    meeting_type_id === undefined ? null : `of type ${types.get(meeting_type_id) ?? t`that was deleted`}`,
    tag === undefined ? null : t`tagged ${tag}`,
    scope === undefined ? null : scope === "external" ? "with guests" : "internal",
    title === undefined ? null : t`with “${title}” in the title`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? t`every recording` : t`recordings ${parts.join(", ")}`;
}
