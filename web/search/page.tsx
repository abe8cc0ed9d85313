import { Stack, Title } from "@mantine/core";
import { searchRoute } from "../app/router.tsx";
import { useTitle } from "../common/use-title.ts";

/** What was found for the words in the address. */
export function SearchPage() {
  const { q } = searchRoute.useSearch();
  useTitle(q === undefined ? "Search" : `Search: ${q}`);
  return (
    <Stack gap="md" maw={900} mx="auto">
      <Title order={1} size="h2">
        Search
      </Title>
    </Stack>
  );
}
