import { because } from "../../../contract/causes/causes.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import type { StoryRow } from "./queries.ts";

export function storyNotFound(storyId: string): ProblemError {
  return new ProblemError("not_found", `there is no story ${storyId} in this workspace`);
}

/** The story's creator, admins and workspace tokens; viewers may not change anything, even stories they created. */
export function canChangeStory(principal: Principal, story: Pick<StoryRow, "created_by">): boolean {
  if (principal.role === "viewer" && principal.scope === "personal") return false;
  return (
    principal.scope === "workspace" || principal.role === "admin" || story.created_by === principal.userId
  );
}

/** @throws ProblemError `forbidden` if the principal may not change the story. */
export function checkCanChange(principal: Principal, story: Pick<StoryRow, "created_by">): void {
  if (canChangeStory(principal, story)) return;
  throw new ProblemError("forbidden", because("story_creator_or_admin_only"));
}
