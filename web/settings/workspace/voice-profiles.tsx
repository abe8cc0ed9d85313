import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import {
  deleteVoiceProfile,
  type VoiceProfile,
  voiceProfilesQuery,
  voiceProfileUrl,
} from "../../api/settings/voice-profiles.ts";
import { updateWorkspace, type Workspace, workspaceQuery } from "../../api/settings/workspace.ts";
import { useAction } from "../../common/actions.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Loaded, Panel, Row, Rows, Section } from "../parts.tsx";

/** Turns voice profiles on and off, and lists them. */
export function VoiceProfiles({ workspace }: { workspace: Workspace }) {
  const { t } = useLingui();
  const profiles = useQuery(voiceProfilesQuery);
  const isOn = workspace.voice_profiles;
  const toggle = useAction({
    run: () => updateWorkspace({ voice_profiles: !isOn }),
    done: isOn ? t`Voice profiles turned off.` : t`Voice profiles turned on.`,
    refresh: [workspaceQuery.queryKey],
  });
  return (
    <Section
      title={t`Voice profiles`}
      lead={t`Suggests names for speakers by the voices of people who agreed to it.`}
    >
      <Panel>
        <Switch
          label={t`Remember voices, with each person's consent`}
          description={t`Voices are biometric data. Applies to new transcriptions with the speaker model. Turning it off keeps the profiles below, and deletes the voices of unnamed speakers.`}
          checked={isOn}
          disabled={toggle.isPending}
          onChange={() => toggle.mutate()}
        />
      </Panel>
      <Loaded query={profiles}>
        {({ profiles: all }) =>
          all.length === 0 ? null : (
            <Rows label={t`Voice profiles`}>
              {all.map((profile) => (
                <ProfileRow key={profile.id} profile={profile} />
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Section>
  );
}

function ProfileRow({ profile }: { profile: VoiceProfile }) {
  const { t } = useLingui();
  const { id, name, email, consent } = profile;
  const confirmer = consent.confirmed_by?.name;
  const time = whenInLine(consent.datetime);
  return (
    <Row
      title={name}
      facts={[
        email,
        confirmer === undefined
          ? t`Consent confirmed by a deleted user, ${time}`
          : t`Consent confirmed by ${confirmer}, ${time}`,
      ]}
      actions={
        <>
          <Button
            component="a"
            href={voiceProfileUrl(id)}
            download={`voice-profile-${id}.json`}
            variant="subtle"
            size="compact-sm"
            aria-label={t`Export ${name}`}
          >
            <Trans>Export</Trans>
          </Button>
          <ConfirmButton
            text={t`Delete`}
            button={{ "aria-label": t`Delete ${name}` }}
            title={t`Delete the voice profile of ${name}?`}
            label={t`Delete profile`}
            run={() => deleteVoiceProfile(id)}
            done={t`Voice profile of ${name} deleted.`}
            refresh={[voiceProfilesQuery.queryKey]}
          >
            <Trans>The voice is no longer recognized. This can't be undone.</Trans>
          </ConfirmButton>
        </>
      }
    />
  );
}
