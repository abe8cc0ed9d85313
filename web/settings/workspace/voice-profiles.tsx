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
import { dayAndTime } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Loaded, Panel, Row, Rows, Section } from "../parts.tsx";

/** Turns voice profiles on and off, and lists them. */
export function VoiceProfiles({ workspace }: { workspace: Workspace }) {
  const profiles = useQuery(voiceProfilesQuery);
  const isOn = workspace.voice_profiles;
  const toggle = useAction({
    run: () => updateWorkspace({ voice_profiles: !isOn }),
    done: isOn ? "Voice profiles turned off." : "Voice profiles turned on.",
    refresh: [workspaceQuery.queryKey],
  });
  return (
    <Section
      title="Voice profiles"
      lead="Suggests names for speakers by the voices of people who agreed to it."
    >
      <Panel>
        <Switch
          label="Remember voices, with each person's consent"
          description="Voices are biometric data. Applies to new transcriptions with the speaker model. Turning it off keeps the profiles below, and deletes the voices of unnamed speakers."
          checked={isOn}
          disabled={toggle.isPending}
          onChange={() => toggle.mutate()}
        />
      </Panel>
      <Loaded query={profiles}>
        {({ profiles: all }) =>
          all.length === 0 ? null : (
            <Rows label="Voice profiles">
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
  const { id, name, email, consent } = profile;
  return (
    <Row
      title={name}
      facts={[
        email,
        `Consent confirmed by ${consent.confirmed_by?.name ?? "a deleted user"}, ${dayAndTime(consent.datetime)}`,
      ]}
      actions={
        <>
          <Button
            component="a"
            href={voiceProfileUrl(id)}
            download={`voice-profile-${id}.json`}
            variant="subtle"
            size="compact-sm"
            aria-label={`Export ${name}`}
          >
            Export
          </Button>
          <ConfirmButton
            text="Delete"
            button={{ "aria-label": `Delete ${name}` }}
            title={`Delete the voice profile of ${name}?`}
            label="Delete profile"
            run={() => deleteVoiceProfile(id)}
            done={`Voice profile of ${name} deleted.`}
            refresh={[voiceProfilesQuery.queryKey]}
          >
            The voice is no longer recognized. This can't be undone.
          </ConfirmButton>
        </>
      }
    />
  );
}
