import type { Principal } from "../access/principal.ts";
import { ProblemError } from "../http/problem.ts";
import type { StoryRow } from "./queries.ts";

export function storyNotFound(storyId: string): ProblemError {
  return new ProblemError("not_found", `there is no story ${storyId} in this workspace`);
}

/** Whoever made it, admins and workspace tokens; viewers change nothing, also not what they made before. */
export function mayChangeStory(principal: Principal, story: Pick<StoryRow, "created_by">): boolean {
  if (principal.role === "viewer" && principal.scope === "personal") return false;
  return (
    principal.scope === "workspace" || principal.role === "admin" || story.created_by === principal.userId
  );
}

/** @throws ProblemError `forbidden` for whoever may not. */
export function checkMayChange(principal: Principal, story: Pick<StoryRow, "created_by">): void {
  if (mayChangeStory(principal, story)) return;
  throw new ProblemError(
    "forbidden",
    "only whoever made the story, admins and workspace tokens may change it",
  );
}
