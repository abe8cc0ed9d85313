import { CloseButton, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useWider } from "../common/use-wider.ts";

/** Global search, on every page. */
export function HeaderSearch() {
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
          aria-label="Search recordings and transcripts"
          placeholder={isWide ? "Search recordings and transcripts" : "Search"}
          leftSection={<IconSearch size={18} stroke={1.6} aria-hidden />}
          rightSection={
            text === "" ? null : (
              <CloseButton size="sm" aria-label="Clear search" onClick={() => setText("")} />
            )
          }
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </form>
    </search>
  );
}
