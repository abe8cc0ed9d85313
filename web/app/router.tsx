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
import { recordingQuery, transcriptQuery } from "../api/recording.ts";
import { recordingsQuery } from "../api/recordings.ts";
import { sessionQuery, signInAddress } from "../api/session.ts";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { readHighlightsSearch } from "../highlights/search-params.ts";
import { readLibrarySearch } from "../library/search-params.ts";
import { readRecordingSearch } from "../recording/search-params.ts";
import { readSearchParams } from "../search/search-params.ts";
import { readAuditSearch } from "../settings/audit-search.ts";
import { Shell } from "./shell.tsx";

interface Context {
  readonly queryClient: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ component: Outlet });

/** Pages for people who signed in; whoever did not is led there and back. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  beforeLoad: async ({ context }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session === null) {
      window.location.assign(signInAddress());
      // The browser is leaving this page: nothing of it is shown any more.
      return new Promise<never>(() => undefined);
    }
    return { session };
  },
  component: function SignedIn() {
    const { session } = signedIn.useRouteContext();
    return <Shell session={useQuery(sessionQuery).data ?? session} />;
  },
});

const libraryRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  validateSearch: readLibrarySearch,
  loaderDeps: ({ search: { view: _view, ...filter } }) => filter,
  // Asked for while the page's code is on its way.
  loader: ({ context, deps, preload }) => {
    if (!preload) void context.queryClient.prefetchInfiniteQuery(recordingsQuery(deps));
  },
  component: lazyRouteComponent(() => import("../library/page.tsx"), "LibraryPage"),
});

const searchRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/search",
  validateSearch: readSearchParams,
  component: lazyRouteComponent(() => import("../search/page.tsx"), "SearchPage"),
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
  component: lazyRouteComponent(() => import("../recording/page.tsx"), "RecordingPage"),
});

const settingsRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/settings",
  component: lazyRouteComponent(() => import("../settings/layout.tsx"), "SettingsLayout"),
});

const settingsPage = <Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => settingsRoute, path, component });

// A route of its own name: written into the list below, its types would go round in a circle.
const auditRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/audit",
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import("../settings/audit.tsx"), "AuditPage"),
});

const settingsPages = settingsRoute.addChildren([
  settingsPage(
    "/",
    lazyRouteComponent(() => import("../settings/profile.tsx"), "ProfilePage"),
  ),
  settingsPage(
    "/tokens",
    lazyRouteComponent(() => import("../settings/tokens.tsx"), "TokensPage"),
  ),
  settingsPage(
    "/apps",
    lazyRouteComponent(() => import("../settings/apps.tsx"), "AppsPage"),
  ),
  settingsPage(
    "/people",
    lazyRouteComponent(() => import("../settings/people.tsx"), "PeoplePage"),
  ),
  settingsPage(
    "/teams",
    lazyRouteComponent(() => import("../settings/teams.tsx"), "TeamsPage"),
  ),
  settingsPage(
    "/hooks",
    lazyRouteComponent(() => import("../settings/hooks/list.tsx"), "HooksPage"),
  ),
  settingsPage(
    "/hooks/$hookId",
    lazyRouteComponent(() => import("../settings/hooks/page.tsx"), "HookPage"),
  ),
  settingsPage(
    "/clients",
    lazyRouteComponent(() => import("../settings/clients.tsx"), "ClientsPage"),
  ),
  auditRoute,
  settingsPage(
    "/meeting-types",
    lazyRouteComponent(() => import("../settings/meeting-types.tsx"), "MeetingTypesPage"),
  ),
  settingsPage(
    "/workspace",
    lazyRouteComponent(() => import("../settings/workspace.tsx"), "WorkspacePage"),
  ),
  settingsPage(
    "/retention",
    lazyRouteComponent(() => import("../settings/retention/rules.tsx"), "RetentionPage"),
  ),
  settingsPage(
    "/holds",
    lazyRouteComponent(() => import("../settings/retention/holds.tsx"), "HoldsPage"),
  ),
  settingsPage(
    "/erasures",
    lazyRouteComponent(() => import("../settings/retention/erasures.tsx"), "ErasuresPage"),
  ),
  settingsPage(
    "/api",
    lazyRouteComponent(() => import("../settings/api.tsx"), "ApiPage"),
  ),
  settingsPage(
    "/templates",
    lazyRouteComponent(() => import("../settings/templates.tsx"), "TemplatesPage"),
  ),
]);

const uploadsRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/uploads",
  component: lazyRouteComponent(() => import("../uploads/page.tsx"), "UploadsPage"),
});

const uploadRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/uploads/$uploadId",
  component: lazyRouteComponent(() => import("../uploads/upload-page.tsx"), "UploadPage"),
});

const highlightsRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/highlights",
  validateSearch: readHighlightsSearch,
  component: lazyRouteComponent(() => import("../highlights/page.tsx"), "HighlightsPage"),
});

/** Links to one highlight open it above the list. */
const highlightRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/highlights/$highlightId",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/highlights", search: { play: params.highlightId }, replace: true });
  },
});

const storiesRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/stories",
  component: lazyRouteComponent(() => import("../stories/page.tsx"), "StoriesPage"),
});

const storyRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/stories/$storyId",
  component: lazyRouteComponent(() => import("../stories/story-page.tsx"), "StoryPage"),
});

const routes = root.addChildren([
  signedIn.addChildren([
    libraryRoute,
    searchRoute,
    uploadsRoute,
    uploadRoute,
    highlightsRoute,
    highlightRoute,
    storiesRoute,
    storyRoute,
    recordingRoute,
    settingsPages,
  ]),
]);

/** Every page of the app by its address. */
export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree: routes,
    context: { queryClient },
    defaultPreload: "intent",
    scrollRestoration: true,
    defaultPendingComponent: () => (
      <Center mih={320}>
        <Loader role="img" aria-label="Loading" />
      </Center>
    ),
    defaultErrorComponent: ({ error, reset }) => <ErrorState error={error} retry={reset} />,
    defaultNotFoundComponent: () => (
      <EmptyState title="Nothing is here">The address is wrong, or what was here has gone.</EmptyState>
    ),
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
