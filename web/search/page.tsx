import { Stack, Title } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useTitle } from "../common/use-title.ts";

const page = getRouteApi("/signed-in/search");

/** What was found for the words in the address. */
export function SearchPage() {
  const { q } = page.useSearch();
  useTitle(q === undefined ? "Search" : `Search: ${q}`);
  return (
    <Stack gap="md" maw={900} mx="auto">
      <Title order={1} size="h2">
        Search
      </Title>
    </Stack>
  );
}
