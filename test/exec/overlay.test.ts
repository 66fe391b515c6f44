import { driverLaws } from "./driver-laws.ts";

driverLaws("overlay");
