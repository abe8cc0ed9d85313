/** The tenant of personal Microsoft accounts. */
const personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad";

const tenantId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const placeholder = /^(?:\{tenant(?:id)?\}|%7btenant(?:id)?%7d)$/i;

/** Tenants of Microsoft Entra ID that stand for several: any organization, any personal account. */
const sharedTenants: ReadonlySet<string> = new Set(["common", "organizations", "consumers", personalTenant]);

/** Hosts whose issuer is the same for all their customers. */
const sharedHosts: ReadonlySet<string> = new Set([
  "accounts.google.com",
  "appleid.apple.com",
  "gitlab.com",
  "login.salesforce.com",
]);

/** An issuer in the form in which issuers are compared, as discovery compares them. */
export function issuerKey(issuer: string): string {
  return URL.parse(issuer)?.href ?? issuer;
}

/**
 * Whether a provider whose settings name the issuer `configured` sends tokens of `issuer`. Entra ID names the ID of the
 * user's tenant in tokens, where the settings may have `common`, the tenant's domain or a placeholder.
 */
export function acceptsIssuer(configured: string, issuer: string): boolean {
  if (issuerKey(configured) === issuerKey(issuer)) return true;
  const [own, other] = [URL.parse(configured), URL.parse(issuer)];
  if (own === null || other === null) return false;
  const [parts, others] = [partsOf(own), partsOf(other)];
  const isEntra = isMicrosoft(own.hostname);
  const at = isEntra ? 0 : parts.findIndex((part) => placeholder.test(part));
  const [wanted, found] = [parts[at], others[at]];
  if (wanted === undefined || found === undefined || !tenantId.test(found)) return false;
  // Version 1 of its tokens has another host.
  const isFirstVersion = isEntra && parts.length === 1 && other.hostname === "sts.windows.net";
  if (own.origin !== other.origin && !isFirstVersion) return false;
  if (parts.with(at, found).join("/") !== others.join("/")) return false;
  if (tenantId.test(wanted)) return wanted.toLowerCase() === found.toLowerCase();
  return wanted.toLowerCase() !== "consumers" || found.toLowerCase() === personalTenant;
}

function partsOf(url: URL): string[] {
  return url.pathname.split("/").filter((part) => part !== "");
}

/**
 * Why an email of this issuer proves nothing unless the provider says that it is verified: others than the operator decide
 * which emails its users have. Null: the issuer belongs to one organization, as far as can be seen.
 * @returns the end of a sentence.
 */
export function whyShared(issuer: string): string | null {
  if (/\{tenant(?:id)?\}|%7btenant(?:id)?%7d/i.test(issuer))
    return "the issuer stands for every tenant; use the one with the ID of your tenant";
  const url = URL.parse(issuer);
  const tenant = url === null ? "" : (partsOf(url)[0] ?? "");
  if (url !== null && isMicrosoft(url.hostname) && sharedTenants.has(tenant.toLowerCase()))
    return `the issuer with ${tenant} is shared by every tenant, whose admins can set any email; use the one with the ID of your tenant`;
  if (url !== null && sharedHosts.has(url.hostname))
    return `${url.hostname} is shared by all its customers, and says itself whether an email is verified`;
  return null;
}

/** Entra ID of the world, of the US government and of China. */
function isMicrosoft(host: string): boolean {
  return (
    host === "sts.windows.net" ||
    ["microsoftonline.com", "microsoftonline.us", "microsoftonline.cn", "chinacloudapi.cn"].some(
      (domain) => host === domain || host.endsWith(`.${domain}`),
    )
  );
}
