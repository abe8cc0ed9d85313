import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Checkbox, Stack } from "@mantine/core";

/** What the user chose about a speaker's voice. */
export interface VoiceChoice {
  readonly remembers: boolean;
  readonly hasConsent: boolean;
}

/** Nothing is remembered unless the user chooses it. */
export const noVoice: VoiceChoice = { remembers: false, hasConsent: false };

/** Offers to remember the voice of a speaker who is being named; never chosen in advance. */
export function RememberVoice(props: {
  name: string;
  value: VoiceChoice;
  onChange: (value: VoiceChoice) => void;
}) {
  const { t } = useLingui();
  const { name, value, onChange } = props;
  return (
    <Stack gap="xs">
      <Checkbox
        label={t`Remember this voice`}
        description={t`Future recordings suggest this name.`}
        checked={value.remembers}
        onChange={(event) => onChange({ remembers: event.currentTarget.checked, hasConsent: false })}
      />
      {value.remembers ? (
        <Checkbox
          label={t`${name} consents to this workspace keeping a profile of their voice`}
          required
          checked={value.hasConsent}
          onChange={(event) => onChange({ remembers: true, hasConsent: event.currentTarget.checked })}
        />
      ) : null}
    </Stack>
  );
}

/** Suggests the person whose voice profile the speaker sounds like. */
export function SoundsLike({ name, onConfirm }: { name: string; onConfirm: () => void }) {
  return (
    <Alert variant="light" p="xs">
      <Trans>Sounds like {name}.</Trans>{" "}
      <Button size="compact-xs" variant="light" onClick={onConfirm}>
        <Trans>Confirm</Trans>
      </Button>
    </Alert>
  );
}
