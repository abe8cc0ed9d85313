import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { GetPromptResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

/** Prompts that users choose in their assistant. Source: Model Context Protocol, "Prompts". */
export function registerPrompts(server: McpServer): void {
  server.registerPrompt(
    "summarize_meeting",
    {
      title: "Summarize a meeting",
      description: "Decisions, action items and open questions, each with the moment it was said.",
      argsSchema: { meeting: z.string().max(500).describe("Title, participant or date of the meeting.") },
    },
    ({ meeting }) =>
      request(
        `Find the meeting "${meeting}" with search or list_recordings and read it with fetch. Summarize it: decisions, action items with their owners, and open questions. Link each to its moment. If several meetings match, ask me which one.`,
      ),
  );
  server.registerPrompt(
    "prepare_for_meeting",
    {
      title: "Prepare for a meeting",
      description: "What was last discussed with someone, and what is still open.",
      argsSchema: { person: z.string().max(500).describe("Name or email of a participant.") },
    },
    ({ person }) =>
      request(
        `Prepare me for a meeting with ${person}. Search the recordings with them as person, read the most recent ones, and list what was agreed, what I promised, what they promised, and what is still open. Link each to its moment.`,
      ),
  );
  server.registerPrompt(
    "list_action_items",
    {
      title: "List action items",
      description: "Action items of the meetings since a day.",
      argsSchema: { since: z.string().max(100).describe("The first day, such as 2026-10-05.") },
    },
    ({ since }) =>
      request(
        `List the recordings that started on ${since} or later with list_recordings, read each with get_recording, and list all action items by owner, each with its meeting and a link to its moment.`,
      ),
  );
}

function request(text: string): GetPromptResult {
  return { messages: [{ role: "user", content: { type: "text", text } }] };
}
