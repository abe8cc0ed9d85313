import { useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import { whisperLanguages } from "../../contract/workspace/whisper-languages.ts";
import { compareNames, languageName } from "./format/names.ts";

/** Chooses the language that is spoken in a meeting. */
export function LanguageSelect(props: {
  label: string;
  description?: string;
  /** What happens without a language. */
  automatic: string;
  /** A language code or `auto`. */
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
}) {
  const { t } = useLingui();
  const { automatic, value, onChange, error, ...rest } = props;
  const languages = whisperLanguages
    .map((code) => ({ value: code, label: languageName(code) }))
    .toSorted((a, b) => compareNames(a.label, b.label));
  const isListed = value === "auto" || whisperLanguages.includes(value);
  return (
    <Select
      {...rest}
      searchable
      allowDeselect={false}
      nothingFoundMessage={t`No such language`}
      data={[
        { value: "auto", label: automatic },
        ...(isListed ? [] : [{ value, label: languageName(value) }]),
        ...languages,
      ]}
      value={value}
      onChange={(choice) => onChange(choice ?? "auto")}
      error={error}
    />
  );
}
