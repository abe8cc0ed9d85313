import { Modal } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type Participant, refreshTranscript, type Speaker } from "../../api/recording.ts";
import { Confirm } from "../../common/confirm.tsx";
import { useRecording } from "../context.ts";
import { PersonForm } from "./person-form.tsx";

/** What somebody is about to do with who took part. */
export type PersonTask =
  | { readonly kind: "add"; readonly speaker?: Speaker }
  | { readonly kind: "change" | "remove"; readonly person: Participant };

/** Adds, changes or removes a participant. @param props.strangers who speaks and is none of them. */
export function PersonDialogs(props: {
  task: PersonTask | null;
  strangers: readonly Speaker[];
  onClose: () => void;
}) {
  const { task, strangers, onClose } = props;
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const person = task === null || task.kind === "add" ? null : task.person;
  return (
    <>
      <Modal
        opened={task !== null && task.kind !== "remove"}
        onClose={onClose}
        title={person === null ? "Add somebody" : "Change a participant"}
      >
        {task === null || task.kind === "remove" ? null : (
          <PersonForm
            person={person}
            strangers={strangers}
            speaker={task.kind === "add" ? task.speaker : undefined}
            onClose={onClose}
          />
        )}
      </Modal>
      <Confirm
        opened={task?.kind === "remove"}
        onClose={onClose}
        title="Remove from the participants?"
        label="Remove"
        done="Removed from the participants"
        run={async () => {
          if (person === null) return;
          await actions.removePerson(person.id);
          await refreshTranscript(client, id);
        }}
      >
        What {person?.name ?? "this person"} said stays in the transcript under that name. Whoever saw the
        recording only as a participant does not see it any more.
      </Confirm>
    </>
  );
}
