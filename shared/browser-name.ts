const browsers = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/Chrom(e|ium)\//, "Chrome"],
  [/Safari\//, "Safari"],
] as const;

const systems = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
] as const;

/** A browser's common name; for unknown browsers, the start of the user agent. */
export function browserName(userAgent: string): string {
  return knownBrowserName(userAgent) ?? (userAgent.trim().slice(0, 60) || "Unknown browser");
}

/** The same, with null for unknown browsers, which can call themselves anything. */
export function knownBrowserName(userAgent: string): string | null {
  const browser = browsers.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1];
  if (browser === undefined) return null;
  return system === undefined ? browser : `${browser} on ${system}`;
}
