import { msg, plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { PasswordInput, Radio, Select, SimpleGrid, Stack } from "@mantine/core";
import type { LinkInput } from "../../api/public-links.ts";

/** What the link to a new clip is for. */
export interface ClipLink {
  readonly isPublic: boolean;
  /** null: never. */
  readonly expiresInDays: number | null;
  /** Empty: none. */
  readonly password: string;
}

const storageKey = "parley.clip-link";
const dayMs = 86_400_000;
const minPasswordCharacters = 6;

/** Choices of `expiresInDays`; 0 stands for never. */
const expiries = [
  { value: "0", label: msg`Never` },
  { value: "1", label: msg`In 1 day` },
  { value: "7", label: msg`In 7 days` },
  { value: "30", label: msg`In 30 days` },
] as const;

/** The link chosen for the previous clip. @param canPublish whether the user may create public links of the recording. */
export function previousLink(canPublish: boolean): ClipLink {
  return {
    isPublic: canPublish && readChoice() === "public",
    expiresInDays: null,
    password: "",
  };
}

/** Storage is blocked in some browsers. */
function readChoice(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}

/** Keeps the choice for the next clip. */
export function keepLink({ isPublic }: ClipLink): void {
  try {
    localStorage.setItem(storageKey, isPublic ? "public" : "internal");
  } catch {
    // The next clip starts with the default.
  }
}

/** Why the link can't be created; null if it can. */
export function linkProblem({ isPublic, password }: ClipLink): string | null {
  if (!isPublic || password === "" || password.length >= minPasswordCharacters) return null;
  return plural(minPasswordCharacters, {
    one: "Use at least # character",
    other: "Use at least # characters",
  });
}

/** The settings of the public link. */
export function linkInput({ expiresInDays, password }: ClipLink): LinkInput {
  return {
    ...(expiresInDays === null
      ? {}
      : { expires_datetime: new Date(Date.now() + expiresInDays * dayMs).toISOString() }),
    ...(password === "" ? {} : { password }),
  };
}

/** Who can open the link to a new clip. */
export function LinkFields({ link, onChange }: { link: ClipLink; onChange: (link: ClipLink) => void }) {
  const { t } = useLingui();
  return (
    <Radio.Group
      label={t`Link`}
      value={link.isPublic ? "public" : "internal"}
      onChange={(value) => onChange({ ...link, isPublic: value === "public" })}
    >
      <Stack gap="xs" mt={6}>
        <Radio value="internal" label={t`People who can see the recording`} />
        <Radio value="public" label={t`Anyone with the link, without signing in`} />
        {link.isPublic ? (
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" ps={28}>
            <Select
              label={t`Expires`}
              allowDeselect={false}
              data={expiries.map(({ value, label }) => ({ value, label: t(label) }))}
              value={String(link.expiresInDays ?? 0)}
              onChange={(value) =>
                onChange({ ...link, expiresInDays: value === "0" || value === null ? null : Number(value) })
              }
            />
            <PasswordInput
              label={t`Password`}
              placeholder={t({ message: "None", context: "password" })}
              autoComplete="new-password"
              value={link.password}
              onChange={(event) => onChange({ ...link, password: event.currentTarget.value })}
              error={linkProblem(link)}
              visibilityToggleButtonProps={{ "aria-label": t`Show password` }}
            />
          </SimpleGrid>
        ) : null}
      </Stack>
    </Radio.Group>
  );
}
