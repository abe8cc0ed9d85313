import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type * as teams from "../../../contract/accounts/account-teams.ts";
import type * as intelligence from "../../../contract/recordings/intelligence.ts";
import type * as types from "../../../contract/workspace/meeting-types.ts";
import { call, path } from "../client.ts";

export type MeetingType = z.output<typeof types.ManagedMeetingType>;
export type Scope = MeetingType["scope"];
export type Template = z.output<typeof intelligence.SectionTemplate>;
export type NewTemplate = z.input<typeof intelligence.createTemplate.body>;
export type TemplateChange = z.input<typeof intelligence.updateTemplate.body>;
export type Intelligence = z.output<typeof intelligence.IntelligenceStatus>;

export const managedTypesQuery = queryOptions({
  queryKey: ["meeting types"],
  queryFn: ({ signal }) =>
    call<typeof types.listManagedMeetingTypes>("GET", "/_/api/v1/meeting_types", { signal }),
});

/** Queries to invalidate when a meeting type changes. */
export const meetingTypeKeys = [["meeting types"], ["directory", "meeting types"]] as const;

export const createMeetingType = (body: z.input<typeof types.createMeetingType.body>) =>
  call<typeof types.createMeetingType>("POST", "/_/api/v1/meeting_types", { body });

export const updateMeetingType = (id: string, body: z.input<typeof types.updateMeetingType.body>) =>
  call<typeof types.updateMeetingType>("PATCH", path`/_/api/v1/meeting_types/${id}`, { body });

/** @param reassignTo id of the type that its recordings get; required if there are any. */
export const deleteMeetingType = (id: string, reassignTo: string | null) =>
  call<typeof types.deleteMeetingType>("DELETE", path`/_/api/v1/meeting_types/${id}`, {
    query: { reassign_to: reassignTo },
  });

export const templatesQuery = queryOptions({
  queryKey: ["templates"],
  queryFn: ({ signal }) => call<typeof intelligence.listTemplates>("GET", "/_/api/v1/templates", { signal }),
});

export const createTemplate = (body: NewTemplate) =>
  call<typeof intelligence.createTemplate>("POST", "/_/api/v1/templates", { body });

export const updateTemplate = (id: string, body: TemplateChange) =>
  call<typeof intelligence.updateTemplate>("PATCH", path`/_/api/v1/templates/${id}`, { body });

export const deleteTemplate = (id: string) =>
  call<typeof intelligence.deleteTemplate>("DELETE", path`/_/api/v1/templates/${id}`);

export const intelligenceQuery = queryOptions({
  queryKey: ["intelligence"],
  queryFn: ({ signal }) =>
    call<typeof intelligence.getIntelligence>("GET", "/_/api/v1/intelligence", { signal }),
});

export const updateIntelligence = (body: z.input<typeof intelligence.updateIntelligence.body>) =>
  call<typeof intelligence.updateIntelligence>("PATCH", "/_/api/v1/intelligence", { body });

export type Workspace = z.output<typeof teams.WorkspaceSettings>;
export type WorkspaceChange = z.input<typeof teams.updateWorkspace.body>;

export const workspaceQuery = queryOptions({
  queryKey: ["workspace"],
  queryFn: ({ signal }) => call<typeof teams.getWorkspace>("GET", "/_/api/v1/workspace", { signal }),
});

export const updateWorkspace = (body: WorkspaceChange) =>
  call<typeof teams.updateWorkspace>("PATCH", "/_/api/v1/workspace", { body });
