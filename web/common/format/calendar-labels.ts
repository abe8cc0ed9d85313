/** Accessible names for the arrow buttons of Mantine's calendars, which have none. */
export const calendarLabels = {
  monthLevelControl: "Choose month",
  yearLevelControl: "Choose year",
  nextMonth: "Next month",
  previousMonth: "Previous month",
  nextYear: "Next year",
  previousYear: "Previous year",
  nextDecade: "Next decade",
  previousDecade: "Previous decade",
};
