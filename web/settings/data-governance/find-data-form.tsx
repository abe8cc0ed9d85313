import { Trans, useLingui } from "@lingui/react/macro";
import { Autocomplete, Button, Group } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { managedUsersQuery } from "../../api/settings/users.ts";

/** Asks for the person's email; users of the workspace are also found by name. */
export function FindDataForm({ onFind }: { onFind: (email: string) => void }) {
  const { t } = useLingui();
  const people = useQuery(managedUsersQuery).data?.users ?? [];
  const [text, setText] = useState("");
  // Erased accounts can't be searched.
  const known = people.filter(({ email }) => !email.endsWith("@erased.invalid"));
  const names = new Map(known.map(({ email, name }) => [email, name]));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onFind(text.trim());
      }}
    >
      <Group align="flex-end" gap="sm">
        <Autocomplete
          label={t`Email`}
          description={t`Also works for people without an account, such as meeting guests.`}
          placeholder="name@example.com"
          type="email"
          required
          flex="1 1 260px"
          autoComplete="off"
          limit={8}
          data={known.map(({ email }) => email)}
          renderOption={({ option }) => (
            <span>
              {names.get(option.value)} <small>{option.value}</small>
            </span>
          )}
          filter={({ options, search, limit }) => {
            const words = search.trim().toLowerCase();
            return options
              .filter((option) => {
                const email = "value" in option ? option.value : "";
                return `${names.get(email) ?? ""} ${email}`.toLowerCase().includes(words);
              })
              .slice(0, limit);
          }}
          value={text}
          onChange={setText}
        />
        <Button type="submit" leftSection={<IconSearch size={16} aria-hidden />}>
          <Trans>Find data</Trans>
        </Button>
      </Group>
    </form>
  );
}
