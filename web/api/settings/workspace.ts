import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as teams from "../../../contract/accounts/account-teams.ts";
import * as intelligence from "../../../contract/recordings/intelligence.ts";
import * as types from "../../../contract/workspace/meeting-types.ts";
import { call } from "../client/call.ts";

export type MeetingType = z.output<typeof types.ManagedMeetingType>;
export type Scope = MeetingType["scope"];
export type Template = z.output<typeof intelligence.SectionTemplate>;
export type NewTemplate = z.input<typeof intelligence.createTemplate.body>;
export type TemplateChange = z.input<typeof intelligence.updateTemplate.body>;
export type Intelligence = z.output<typeof intelligence.IntelligenceStatus>;

export const managedTypesQuery = queryOptions({
  queryKey: ["meeting types"],
  queryFn: ({ signal }) => call(types.listManagedMeetingTypes, { signal }),
});

/** Queries to invalidate when a meeting type changes. */
export const meetingTypeKeys = [["meeting types"], ["directory", "meeting types"]] as const;

export const createMeetingType = (body: z.input<typeof types.createMeetingType.body>) =>
  call(types.createMeetingType, { body });

export const updateMeetingType = (id: string, body: z.input<typeof types.updateMeetingType.body>) =>
  call(types.updateMeetingType, { params: { meeting_type_id: id }, body });

/** @param reassignTo id of the type that its recordings get; required if there are any. */
export const deleteMeetingType = (id: string, reassignTo: string | null) =>
  call(types.deleteMeetingType, { params: { meeting_type_id: id }, query: { reassign_to: reassignTo } });

export const templatesQuery = queryOptions({
  queryKey: ["templates"],
  queryFn: ({ signal }) => call(intelligence.listTemplates, { signal }),
});

export const createTemplate = (body: NewTemplate) => call(intelligence.createTemplate, { body });

export const updateTemplate = (id: string, body: TemplateChange) =>
  call(intelligence.updateTemplate, { params: { template_id: id }, body });

export const deleteTemplate = (id: string) =>
  call(intelligence.deleteTemplate, { params: { template_id: id } });

export const intelligenceQuery = queryOptions({
  queryKey: ["intelligence"],
  queryFn: ({ signal }) => call(intelligence.getIntelligence, { signal }),
});

export const updateIntelligence = (body: z.input<typeof intelligence.updateIntelligence.body>) =>
  call(intelligence.updateIntelligence, { body });

export type Workspace = z.output<typeof teams.WorkspaceSettings>;
export type WorkspaceChange = z.input<typeof teams.updateWorkspace.body>;

export const workspaceQuery = queryOptions({
  queryKey: ["workspace"],
  queryFn: ({ signal }) => call(teams.getWorkspace, { signal }),
});

export const updateWorkspace = (body: WorkspaceChange) => call(teams.updateWorkspace, { body });
