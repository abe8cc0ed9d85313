import { Trans, useLingui } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { type Participant, refreshTranscript, type Speaker } from "../../api/recording/recording.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { Confirm } from "../../common/forms/confirm.tsx";
import { useRecording } from "../context.ts";
import { ParticipantForm } from "./participant-form.tsx";

/** An action on the list of participants. */
export type ParticipantTask =
  | { readonly kind: "add"; readonly speaker?: Speaker }
  | { readonly kind: "change" | "remove"; readonly person: Participant };

/** Adds, changes or removes a participant. @param props.otherSpeakers speakers who are not participants. */
export function ParticipantDialogs(props: {
  task: ParticipantTask | null;
  otherSpeakers: readonly Speaker[];
  onClose: () => void;
}) {
  const { t } = useLingui();
  const { task, otherSpeakers, onClose } = props;
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const person = task === null || task.kind === "add" ? null : task.person;
  const name = person?.name ?? t`This person`;
  return (
    <>
      <FormDialog
        opened={task !== null && task.kind !== "remove"}
        onClose={onClose}
        title={person === null ? t`Add person` : t`Edit participant`}
      >
        {task === null || task.kind === "remove" ? null : (
          <ParticipantForm
            person={person}
            otherSpeakers={otherSpeakers}
            speaker={task.kind === "add" ? task.speaker : undefined}
            onClose={onClose}
          />
        )}
      </FormDialog>
      <Confirm
        opened={task?.kind === "remove"}
        onClose={onClose}
        title={t`Remove participant?`}
        label={t`Remove`}
        done={t`Participant removed`}
        run={async () => {
          if (person === null) return;
          await actions.deleteParticipant(person.id);
          await refreshTranscript(client, id);
        }}
      >
        {person?.is_invited ? (
          <Trans>{name}'s words stay in the transcript.</Trans>
        ) : (
          <Trans>
            {name}'s words stay in the transcript. They lose access unless it's shared another way.
          </Trans>
        )}
      </Confirm>
    </>
  );
}
