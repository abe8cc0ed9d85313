import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useMantineColorScheme } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { usersQuery } from "../api/directory.ts";
import { titlesQuery } from "../api/library/list.ts";
import type { Session } from "../api/session.ts";
import { day } from "../common/format/time.ts";
import { recordingUrl } from "../common/recording-url.ts";
import { useOpenRecorder } from "../recorder/context.tsx";
import { navGroupsFor } from "../settings/nav-items.ts";

/** Something that can be chosen in the command palette. */
export interface PaletteItem {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  readonly choose: () => void;
}

export interface PaletteGroup {
  readonly label: string;
  readonly items: readonly PaletteItem[];
}

/** Shown of each kind. */
const maxShown = 6;
const typingPauseMs = 150;

const pages = [
  ["/", msg`Library`],
  ["/highlights", msg`Highlights`],
  ["/stories", msg`Stories`],
  ["/ask", msg`Questions`],
  ["/uploads", msg`Uploads`],
] as const;

const matches = (query: string, ...texts: readonly string[]): boolean =>
  query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => texts.some((text) => text.toLowerCase().includes(word)));

/** Everything that fits the query, in groups. */
export function usePaletteGroups(query: string, session: Session): readonly PaletteGroup[] {
  const { t } = useLingui();
  const navigate = useNavigate();
  const record = useOpenRecorder();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const wanted = query.trim();
  const [title] = useDebouncedValue(wanted, typingPauseMs);
  const recordings = useQuery({ ...titlesQuery(title), placeholderData: keepPreviousData });
  const users = useQuery(usersQuery).data?.users ?? [];
  const go = (href: string) => () => void navigate({ href });
  const isDark = colorScheme === "dark";
  const creation: PaletteItem[] = [
    { id: "upload", label: t`Upload files`, choose: go("/uploads") },
    { id: "record", label: t({ context: "verb", message: "Record" }), choose: record },
  ];
  const actions: PaletteItem[] = [
    ...(session.user.role === "viewer" ? [] : creation),
    {
      id: "appearance",
      label: isDark ? t`Light mode` : t`Dark mode`,
      choose: () => setColorScheme(isDark ? "light" : "dark"),
    },
  ];
  const settings = navGroupsFor(session).flatMap(({ label, items }) => {
    const group = t(label);
    return items.map(({ path, label, products = "" }) => ({
      ...{ path, label: t(label), products },
      detail: t`Settings, ${group}`,
    }));
  });
  const groups: PaletteGroup[] = [
    {
      label: t`Search`,
      items:
        wanted === ""
          ? []
          : [
              {
                id: "search",
                label: t`Search all transcripts for “${wanted}”`,
                choose: () => void navigate({ to: "/search", search: { q: wanted } }),
              },
            ],
    },
    {
      label: wanted === "" ? t`Recent recordings` : t`Recordings`,
      items: (recordings.data?.recordings ?? [])
        .filter(({ recording }) => matches(wanted, recording.title))
        .slice(0, maxShown)
        .map(({ recording: { id, title, start_datetime } }) => ({
          id,
          label: title,
          detail: day(start_datetime),
          choose: go(recordingUrl(id)),
        })),
    },
    { label: t`Actions`, items: actions.filter(({ label }) => matches(wanted, label)) },
    {
      label: t`Pages`,
      items: [
        ...pages
          .map(([path, label]) => [path, t(label)] as const)
          .filter(([, label]) => matches(wanted, label))
          .map(([path, label]) => ({ id: path, label, choose: go(path) })),
        ...(wanted === "" ? [] : settings)
          .filter(({ label, detail, products }) => matches(wanted, label, detail, products))
          .map(({ path, label, detail }) => ({ id: path, label, detail, choose: go(path) })),
      ].slice(0, maxShown),
    },
    {
      label: t`People`,
      items: (wanted === "" ? [] : users)
        .filter(({ name, email }) => matches(wanted, name, email))
        .slice(0, maxShown)
        .map(({ id, name, email }) => ({
          id,
          label: name,
          detail: email,
          choose: () => void navigate({ to: "/search", search: { q: name } }),
        })),
    },
  ];
  return groups.filter(({ items }) => items.length > 0);
}
