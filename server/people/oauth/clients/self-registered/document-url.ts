import { checkHookUrl } from "../../../../platform/outbound/target.ts";

/** Longer URLs are no client_id. */
const maxLength = 500;

/**
 * Whether a client_id is the URL of a client ID metadata document: https, with a path, without a fragment, credentials or
 * dot segments, and in its normal form, so that one document has one client_id. Source:
 * draft-ietf-oauth-client-id-metadata-document, section 3.
 */
export function isDocumentUrl(clientId: string): boolean {
  if (clientId.length > maxLength || !clientId.startsWith("https://")) return false;
  if (clientId.includes("#") || checkHookUrl(clientId, { httpsOnly: true }) !== null) return false;
  const { pathname, href } = new URL(clientId);
  return pathname !== "/" && href === clientId;
}
