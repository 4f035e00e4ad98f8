# Clusters of a data frame of R, through reticulate. NA is a missing value.
library(reticulate)

py_require("pckid")
pckid <- import("pckid")

rows <- airquality[, c("Ozone", "Solar.R", "Wind", "Temp")]
model <- pckid$PCKID(3L, random_state = 0L)$fit(rows)

airquality$cluster <- model$labels_
airquality$confidence <- model$confidence_
print(table(airquality$cluster, airquality$Month))
cat(pckid$assess(model, rows)$sentence, "\n")
