import { mcpPath } from "../../../contract/accounts/oauth.ts";
import type { Resource } from "../../platform/auth/audience.ts";

/**
 * The resource that a request asks for (RFC 8707, section 2).
 * @returns null for the whole server; undefined for a resource of another server.
 */
export function readResource(baseUrl: string, asked: string): Resource | null | undefined {
  if (!URL.canParse(asked) || asked.includes("#")) return undefined;
  const canonical = new URL(asked).href.replace(/\/$/, "");
  const own = new URL(baseUrl).href.replace(/\/$/, "");
  if (canonical === own) return null;
  return canonical === own + mcpPath ? "mcp" : undefined;
}
