import { Select } from "@mantine/core";
import type { DatetimeFilters } from "../../contract/common.ts";

const choices = [
  { value: "contract", label: "As the API documentation says" },
  { value: "by-name", label: "By name" },
] as const satisfies readonly { value: DatetimeFilters; label: string }[];

/** How a program's date filters are read. @param value null: the server's setting. */
export function DatetimeFiltersField(props: {
  value: DatetimeFilters | null;
  onChange: (value: DatetimeFilters | null) => void;
  error: string | undefined;
}) {
  const { value, onChange, error } = props;
  return (
    <Select
      label="Date filters"
      description="By name: before_datetime finds recordings that start before its value. Choose this if a program's lists stay empty."
      placeholder="Server default"
      data={choices}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}
