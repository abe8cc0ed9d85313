import { getDomain } from "tldts";
import { calendarLimits } from "../../../../contract/calendars/calendars.ts";
import { readBytes } from "../../../platform/outbound/guarded-client.ts";
import { basicAuthorization, decodePercent } from "../../../platform/outbound/target.ts";
import { aboutCalendar } from "../wording.ts";
import { CalendarError, type CalendarSource, type Fetched, type FetchOptions, refusalOf } from "./source.ts";
import { type Element, findAll, findFirst, readXml } from "./xml.ts";

/** Source: RFC 4791 (CalDAV), RFC 6764 (finding the service), RFC 5397 (current-user-principal). */

export interface FoundCalendar {
  readonly url: string;
  readonly name: string;
}

type Reader = Pick<FetchOptions, "client" | "signal">;

/** A resource in a multi-status response. */
interface Resource {
  readonly url: string;
  readonly element: Element;
}

const namespaces =
  'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:s="http://calendarserver.org/ns/"';

function propfind(...names: readonly string[]): string {
  const properties = names.map((name) => `<${name}/>`).join("");
  return `<?xml version="1.0" encoding="utf-8"?><d:propfind ${namespaces}><d:prop>${properties}</d:prop></d:propfind>`;
}

const maxBytes = { PROPFIND: 4 * 1024 * 1024, REPORT: calendarLimits.bytes } as const;

/** Sends a request. @returns null for 404 and 405: there is nothing of this kind at the URL. */
async function ask(
  source: CalendarSource,
  { client, signal }: Reader,
  request: {
    readonly url: string;
    readonly method: "PROPFIND" | "REPORT";
    readonly depth: "0" | "1";
    readonly body: string;
  },
): Promise<Resource[] | null> {
  const { url, method, depth, body } = request;
  requireSameOwner(source.url, url);
  const response = await client.request({
    url,
    method,
    body,
    signal,
    headers: {
      "user-agent": "Parley-Calendar/1",
      "content-type": "application/xml; charset=utf-8",
      authorization: basicAuthorization(`${source.username ?? ""}:${source.password ?? ""}`),
      depth,
    },
  });
  const { status, headers } = response;
  if (status !== 207) {
    response.body.destroy();
    if ([404, 405].includes(status)) return null;
    if (status === 200 || status === 400) throw new CalendarError(aboutCalendar("calendar_not_caldav", {}));
    throw refusalOf(status, headers, source);
  }
  const text = (await readBytes(response, maxBytes[method])).toString("utf8");
  let root: Element;
  try {
    root = await readXml(text, signal);
  } catch {
    signal.throwIfAborted();
    throw new CalendarError(aboutCalendar("calendar_not_xml", {}));
  }
  return findAll(root, "response").flatMap((element) => {
    const href = findFirst(element, "href")?.text.trim() ?? "";
    return URL.canParse(href, url) ? [{ url: new URL(href, url).href, element }] : [];
  });
}

/** A server may refer to another host of the same owner; username and password go nowhere else. */
function hasSameOwner(from: string, to: string): boolean {
  const [a, b] = [new URL(from), new URL(to)];
  if (a.origin === b.origin) return true;
  // Names below github.io and others have an owner each.
  const domain = getDomain(a.hostname, { allowPrivateDomains: true });
  return (
    b.protocol === "https:" &&
    domain !== null &&
    domain === getDomain(b.hostname, { allowPrivateDomains: true })
  );
}

/** @throws CalendarError */
function requireSameOwner(from: string, to: string): void {
  if (hasSameOwner(from, to)) return;
  throw new CalendarError(aboutCalendar("calendar_other_host", { host: new URL(to).host }));
}

/** The calendars that are with the same owner as the account. @throws CalendarError if all are with others. */
function requireOwn(source: CalendarSource, found: readonly FoundCalendar[]): FoundCalendar[] {
  const own = found.filter(({ url }) => hasSameOwner(source.url, url));
  const [first] = found;
  if (own.length === 0 && first !== undefined) requireSameOwner(source.url, first.url);
  return own;
}

/** The URL that a property of a resource has. */
function hrefOf(resources: readonly Resource[] | null, property: string): string | null {
  for (const { url, element } of resources ?? []) {
    const found = findFirst(element, property);
    const href = found === undefined ? "" : (findFirst(found, "href")?.text.trim() ?? "");
    if (href !== "" && URL.canParse(href, url)) return new URL(href, url).href;
  }
  return null;
}

/** The calendars among resources, which hold events. */
function calendarsOf(resources: readonly Resource[] | null): FoundCalendar[] {
  return (resources ?? []).flatMap(({ url, element }) => {
    const type = findFirst(element, "resourcetype");
    if (type === undefined || findFirst(type, "calendar") === undefined) return [];
    const components = findFirst(element, "supported-calendar-component-set");
    if (components !== undefined && !holdsEvents(components)) return [];
    const name = findFirst(element, "displayname")?.text.trim() ?? "";
    const { pathname } = new URL(url);
    return [{ url, name: name === "" ? (decodePercent(pathname) ?? pathname) : name.slice(0, 200) }];
  });
}

/** Whether a calendar takes events, not tasks alone. */
function holdsEvents(components: Element): boolean {
  const names = findAll(components, "comp").map(({ text }) => text.toUpperCase());
  return names.length === 0 || names.includes("VEVENT");
}

const listed = ["d:resourcetype", "d:displayname", "c:supported-calendar-component-set"] as const;

/** The calendars at a URL: of one, of an account, or of a server. @throws CalendarError, OutboundError */
export async function discover(source: CalendarSource, reader: Reader): Promise<FoundCalendar[]> {
  const own = await ask(source, reader, {
    ...{ url: source.url, method: "PROPFIND", depth: "0" },
    body: propfind(...listed, "d:current-user-principal", "c:calendar-home-set"),
  });
  const itself = calendarsOf(own);
  if (itself.length > 0) return requireOwn(source, itself);
  let [principal, home] = [hrefOf(own, "current-user-principal"), hrefOf(own, "calendar-home-set")];
  if (principal === null && home === null)
    principal = hrefOf(
      await ask(source, reader, {
        ...{ url: new URL("/.well-known/caldav", source.url).href, method: "PROPFIND", depth: "0" },
        body: propfind("d:current-user-principal"),
      }),
      "current-user-principal",
    );
  if (home === null && principal !== null)
    home = hrefOf(
      await ask(source, reader, {
        ...{ url: principal, method: "PROPFIND", depth: "0" },
        body: propfind("c:calendar-home-set"),
      }),
      "calendar-home-set",
    );
  if (home === null) throw new CalendarError(aboutCalendar("calendar_no_account", {}));
  const found = calendarsOf(
    await ask(source, reader, { url: home, method: "PROPFIND", depth: "1", body: propfind(...listed) }),
  );
  if (found.length === 0) throw new CalendarError(aboutCalendar("calendar_none", {}));
  return requireOwn(source, found);
}

/** Reads the events of one calendar in a time. @returns null when nothing has changed. @throws CalendarError, OutboundError */
export async function fetchCaldav(source: CalendarSource, options: FetchOptions): Promise<Fetched | null> {
  const about = await ask(source, options, {
    ...{ url: source.url, method: "PROPFIND", depth: "0" },
    body: propfind("s:getctag", "d:sync-token", "d:displayname"),
  });
  const [resource] = about ?? [];
  if (resource === undefined) throw refusalOf(404, {}, source);
  const { element } = resource;
  const tag =
    findFirst(element, "getctag")?.text.trim() || findFirst(element, "sync-token")?.text.trim() || null;
  if (tag !== null && tag === options.etag) return null;
  const stamp = (at: number): string => new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");
  const events = await ask(source, options, {
    ...{ url: source.url, method: "REPORT", depth: "1" },
    body: `<?xml version="1.0" encoding="utf-8"?><c:calendar-query ${namespaces}><d:prop><c:calendar-data/></d:prop><c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT"><c:time-range start="${stamp(options.from)}" end="${stamp(options.to)}"/></c:comp-filter></c:comp-filter></c:filter></c:calendar-query>`,
  });
  if (events === null) throw refusalOf(404, {}, source);
  const data = events.flatMap((event) =>
    findAll(event.element, "calendar-data").map(({ text }) => text.trim()),
  );
  // One after the other is a calendar too; an account without events still is one.
  const text = ["BEGIN:VCALENDAR", "END:VCALENDAR", ...data].join("\r\n");
  const name = findFirst(element, "displayname")?.text.trim().slice(0, 200) ?? "";
  return { bytes: Buffer.from(text), etag: tag?.slice(0, 1000) ?? null, name: name === "" ? null : name };
}
