import { CloseButton, TextInput } from "@mantine/core";
import { useHotkeys, useMediaQuery } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";

/** Global search, on every page. Ctrl+K or Cmd+K focuses it. */
export function HeaderSearch() {
  const urlQuery = useRouterState({
    select: ({ location }) =>
      location.pathname === "/search" ? String((location.search as { q?: unknown }).q ?? "") : "",
  });
  const [text, setText] = useState(urlQuery);
  const isWide = useMediaQuery("(min-width: 36em)", true, { getInitialValueInEffect: false });
  const input = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
  useEffect(() => setText(urlQuery), [urlQuery]);
  useHotkeys([["mod+k", () => input.current?.focus()]]);
  return (
    <search style={{ flex: 1, maxWidth: 620, marginInline: "auto" }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") void navigate({ to: "/search", search: { q: text.trim() } });
        }}
      >
        <TextInput
          ref={input}
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
