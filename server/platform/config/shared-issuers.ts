/** Tenants of Microsoft Entra ID that stand for several: any organization, any personal account. */
const sharedTenants: ReadonlySet<string> = new Set([
  "common",
  "organizations",
  "consumers",
  // Personal Microsoft accounts.
  "9188040d-6c67-4c5b-b112-36a304b66dad",
]);

/** Hosts whose issuer is the same for all their customers. */
const sharedHosts: ReadonlySet<string> = new Set([
  "accounts.google.com",
  "appleid.apple.com",
  "gitlab.com",
  "login.salesforce.com",
]);

/**
 * Why an email of this issuer proves nothing unless the provider says that it is verified: others than the operator decide
 * which emails its users have. Null: the issuer belongs to one organization, as far as can be seen.
 * @returns the end of a sentence.
 */
export function whyShared(issuer: string): string | null {
  if (/\{tenant(?:id)?\}|%7btenant(?:id)?%7d/i.test(issuer))
    return "the issuer stands for every tenant; use the one with the ID of your tenant";
  const url = URL.parse(issuer);
  const tenant = url?.pathname.split("/").find((part) => part !== "") ?? "";
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
