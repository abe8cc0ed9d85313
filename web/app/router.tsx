import { useLingui } from "@lingui/react/macro";
import { Center, Loader } from "@mantine/core";
import { type QueryClient, useQuery } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
  redirect,
} from "@tanstack/react-router";
import { useEffect } from "react";
import { readItemsSearch } from "../action-items/search-params.ts";
import { libraryQuery } from "../api/library/list.ts";
import { recordingQuery, transcriptQuery } from "../api/recording/recording.ts";
import { sessionQuery, signInUrl } from "../api/session.ts";
import { ownerOf } from "../common/drafts/store.ts";
import { lazyPart, loadPart } from "../common/load-part.tsx";
import { readRecordingSearch } from "../common/recording-url.ts";
import { readHighlightsSearch } from "../highlights/search-params.ts";
import { readLibrarySearch } from "../library/search-params.ts";
import { readSearchParams } from "../search/search-params.ts";
import { readAuditSearch } from "../settings/data-governance/audit-search.ts";
import { PageNotFound } from "./page-not-found.tsx";
import { RouteError } from "./route-error.tsx";
import { Shell } from "./shell.tsx";

interface Context {
  readonly queryClient: QueryClient;
}

/** A page whose code is loaded on first visit. If that fails, the page error offers a reload. */
const lazyPage: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(loadPart(load), name);

const SetUpSecondFactor = lazyPart(
  async () => (await import("./session/set-up-second-factor.tsx")).SetUpSecondFactor,
);

const root = createRootRouteWithContext<Context>()({ component: Outlet });

/** Pages for signed-in users. Others are sent to the sign-in page, which returns here. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  beforeLoad: async ({ context }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session === null) {
      window.location.assign(signInUrl());
      // Never resolves: the browser is leaving the page.
      return new Promise<never>(() => undefined);
    }
    return { session };
  },
  component: function SignedIn() {
    const { session } = signedIn.useRouteContext();
    const current = useQuery(sessionQuery).data ?? session;
    // Another user has signed in in another tab: reload, so that they don't see this user's data.
    const isOther = ownerOf(current) !== ownerOf(session);
    useEffect(() => {
      if (isOther) window.location.reload();
    }, [isOther]);
    if (isOther) return null;
    // Of the start: once it is set up, the page stays until the user has kept the recovery codes.
    if (session.second_factor_due?.is_over === true) return <SetUpSecondFactor session={session} />;
    return <Shell session={current} />;
  },
});

/** A page without search parameters: a line in the list at the end of this file. */
const page = <Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => signedIn, path, component });

const libraryRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  validateSearch: readLibrarySearch,
  loaderDeps: ({ search: { view: _view, ...filter } }) => filter,
  // Fetches data in parallel with the page's code.
  loader: ({ context, deps, preload }) => {
    if (!preload) void context.queryClient.prefetchInfiniteQuery(libraryQuery(deps));
  },
  component: lazyPage(() => import("../library/page.tsx"), "LibraryPage"),
});

const searchRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/search",
  validateSearch: readSearchParams,
  component: lazyPage(() => import("../search/page.tsx"), "SearchPage"),
});

const recordingRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/recordings/$recordingId",
  validateSearch: readRecordingSearch,
  loader: ({ context, params: { recordingId }, preload }) => {
    if (preload) return;
    void context.queryClient.prefetchQuery(recordingQuery(recordingId));
    void context.queryClient.prefetchQuery(transcriptQuery(recordingId));
  },
  component: lazyPage(() => import("../recording/page.tsx"), "RecordingPage"),
});

const printRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/recordings/$recordingId/print",
  validateSearch: ({ parts, print }: Record<string, unknown>) => ({
    ...(typeof parts === "string" ? { parts } : {}),
    // Prints the page once, when it is opened for that.
    ...(print === true ? { print } : {}),
  }),
  component: lazyPage(() => import("../recording/print/page.tsx"), "PrintPage"),
});

const settingsRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/settings",
  component: lazyPage(() => import("../settings/layout.tsx"), "SettingsLayout"),
});

const settingsPage = <Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => settingsRoute, path, component });

// A named constant: inside the list below, its type would refer to itself.
const auditRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/audit",
  validateSearch: readAuditSearch,
  component: lazyPage(() => import("../settings/data-governance/audit.tsx"), "AuditPage"),
});

/** Earlier paths of settings pages, for bookmarks. */
const movedSettings = [
  ["/hooks", "/settings/webhooks"],
  ["/people", "/settings/users"],
  ["/erasures", "/settings/erase-personal-data"],
] as const;

const movedSettingsRoutes = movedSettings.map(([path, to]) =>
  createRoute({
    getParentRoute: () => settingsRoute,
    path,
    beforeLoad: () => {
      throw redirect({ href: to, replace: true });
    },
  }),
);

const movedHookRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/hooks/$hookId",
  beforeLoad: ({ params }) => {
    throw redirect({ href: `/settings/webhooks/${params.hookId}`, replace: true });
  },
});

const settingsPages = settingsRoute.addChildren([
  ...movedSettingsRoutes,
  movedHookRoute,
  settingsPage(
    "/",
    lazyPage(() => import("../settings/account/profile.tsx"), "ProfilePage"),
  ),
  settingsPage(
    "/notifications",
    lazyPage(() => import("../settings/account/notifications.tsx"), "NotificationsPage"),
  ),
  settingsPage(
    "/tokens",
    lazyPage(() => import("../settings/account/tokens.tsx"), "TokensPage"),
  ),
  settingsPage(
    "/apps",
    lazyPage(() => import("../settings/account/apps.tsx"), "AppsPage"),
  ),
  settingsPage(
    "/users",
    lazyPage(() => import("../settings/users/users.tsx"), "UsersPage"),
  ),
  settingsPage(
    "/provisioning",
    lazyPage(() => import("../settings/users/provisioning.tsx"), "ProvisioningPage"),
  ),
  settingsPage(
    "/teams",
    lazyPage(() => import("../settings/users/teams.tsx"), "TeamsPage"),
  ),
  settingsPage(
    "/deliveries",
    lazyPage(() => import("../settings/deliveries/page.tsx"), "DeliveriesPage"),
  ),
  settingsPage(
    "/calendars",
    lazyPage(() => import("../settings/calendars/page.tsx"), "CalendarsPage"),
  ),
  settingsPage(
    "/webhooks",
    lazyPage(() => import("../settings/webhooks/list.tsx"), "WebhooksPage"),
  ),
  settingsPage(
    "/webhooks/$hookId",
    lazyPage(() => import("../settings/webhooks/page.tsx"), "WebhookPage"),
  ),
  settingsPage(
    "/clients",
    lazyPage(() => import("../settings/workspace/clients.tsx"), "ClientsPage"),
  ),
  settingsPage(
    "/connections",
    lazyPage(() => import("../settings/integrations.ts"), "ConnectionsPage"),
  ),
  settingsPage(
    "/imports",
    lazyPage(() => import("../settings/integrations.ts"), "ImportsPage"),
  ),
  auditRoute,
  settingsPage(
    "/meeting-types",
    lazyPage(() => import("../settings/workspace/meeting-types.tsx"), "MeetingTypesPage"),
  ),
  settingsPage(
    "/workspace",
    lazyPage(() => import("../settings/workspace/workspace.tsx"), "WorkspacePage"),
  ),
  settingsPage(
    "/security",
    lazyPage(() => import("../settings/workspace/security.tsx"), "SecurityPage"),
  ),
  settingsPage(
    "/transcription",
    lazyPage(() => import("../settings/workspace/transcription.tsx"), "TranscriptionPage"),
  ),
  settingsPage(
    "/language-model",
    lazyPage(() => import("../settings/workspace/language-model.tsx"), "LanguageModelPage"),
  ),
  settingsPage(
    "/retention",
    lazyPage(() => import("../settings/data-governance/rules.tsx"), "RetentionPage"),
  ),
  settingsPage(
    "/holds",
    lazyPage(() => import("../settings/data-governance/holds.tsx"), "HoldsPage"),
  ),
  settingsPage(
    "/erase-personal-data",
    lazyPage(() => import("../settings/data-governance/erasures.tsx"), "ErasuresPage"),
  ),
  settingsPage(
    "/system",
    lazyPage(() => import("../settings/system/page.tsx"), "SystemPage"),
  ),
  settingsPage(
    "/server",
    lazyPage(() => import("../settings/system/server-settings.tsx"), "ServerSettingsPage"),
  ),
  settingsPage(
    "/api",
    lazyPage(() => import("../settings/api.tsx"), "ApiPage"),
  ),
  settingsPage(
    "/templates",
    lazyPage(() => import("../settings/workspace/templates.tsx"), "TemplatesPage"),
  ),
]);

const highlightsRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/highlights",
  validateSearch: readHighlightsSearch,
  component: lazyPage(() => import("../highlights/page.tsx"), "HighlightsPage"),
});

const actionItemsRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/action-items",
  validateSearch: readItemsSearch,
  component: lazyPage(() => import("../action-items/page.tsx"), "ActionItemsPage"),
});

/** A link to one highlight opens it above the list. */
const highlightRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/highlights/$highlightId",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/highlights", search: { play: params.highlightId }, replace: true });
  },
});

const routes = root.addChildren([
  signedIn.addChildren([
    libraryRoute,
    searchRoute,
    page(
      "/uploads",
      lazyPage(() => import("../uploads/page.tsx"), "UploadsPage"),
    ),
    page(
      "/uploads/$uploadId",
      lazyPage(() => import("../uploads/upload-page.tsx"), "UploadPage"),
    ),
    page(
      "/meetings/$meetingId",
      lazyPage(() => import("../meetings/page.tsx"), "MeetingPage"),
    ),
    page(
      "/record/$uploadId",
      lazyPage(() => import("../recorder/finish-page.tsx"), "FinishPage"),
    ),
    highlightsRoute,
    highlightRoute,
    actionItemsRoute,
    page(
      "/ask/{-$threadId}",
      lazyPage(() => import("../ask/page.tsx"), "AskPage"),
    ),
    page(
      "/stories",
      lazyPage(() => import("../stories/page.tsx"), "StoriesPage"),
    ),
    page(
      "/stories/$storyId",
      lazyPage(() => import("../stories/story-page.tsx"), "StoryPage"),
    ),
    page(
      "/trash",
      lazyPage(() => import("../trash/page.tsx"), "TrashPage"),
    ),
    recordingRoute,
    printRoute,
    settingsPages,
  ]),
]);

function Pending() {
  const { t } = useLingui();
  return (
    <Center mih={320}>
      <Loader role="img" aria-label={t`Loading`} />
    </Center>
  );
}

/** The router with all pages of the app. */
export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree: routes,
    context: { queryClient },
    defaultPreload: "intent",
    scrollRestoration: true,
    defaultPendingComponent: Pending,
    defaultErrorComponent: (props) => <RouteError {...props} />,
    defaultNotFoundComponent: PageNotFound,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
