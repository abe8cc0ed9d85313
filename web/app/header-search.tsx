import { useLingui } from "@lingui/react/macro";
import { CloseButton, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useWider } from "../common/use-wider.ts";

/** Global search, on every page. */
export function HeaderSearch() {
  const { t } = useLingui();
  const urlQuery = useRouterState({
    select: ({ location }) =>
      location.pathname === "/search" ? String((location.search as { q?: unknown }).q ?? "") : "",
  });
  const [text, setText] = useState(urlQuery);
  const isWide = useWider("xs");
  const navigate = useNavigate();
  useEffect(() => setText(urlQuery), [urlQuery]);
  return (
    <search style={{ flex: 1, maxWidth: 620, marginInline: "auto" }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") void navigate({ to: "/search", search: { q: text.trim() } });
        }}
      >
        <TextInput
          type="search"
          aria-label={t`Search recordings and transcripts`}
          placeholder={isWide ? t`Search recordings and transcripts` : t`Search`}
          leftSection={<IconSearch size={18} stroke={1.6} aria-hidden />}
          rightSection={
            text === "" ? null : (
              <CloseButton size="sm" aria-label={t`Clear search`} onClick={() => setText("")} />
            )
          }
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </form>
    </search>
  );
}
